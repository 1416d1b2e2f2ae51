"""Pairs of nodes that steps lead on from, side by side."""

from __future__ import annotations

import numpy as np

from tidelog.run.closure.kernels.words import lowest, ones
from tidelog.run.kernel_cache import inlined, kernel
from tidelog.run.kernel_types import Int, Nodes, Places, Rows, Words

U = np.uint64


@kernel
def generations(
    offsets: Places,
    targets: Nodes,
    other: Places,
    others: Nodes,
    back: Places,
    sources: Nodes,
    bits: Rows,
    left: Rows,
    crossed: bool,
    apart: bool,
    few: int,
    dense: int,
    room: int,
    most: int,
) -> Rows:
    """Add to rows of bits, one for each node, all pairs that those `left` lead on to; `most` bounds the steps, roughly.

    Return what is left then to lead on, as such rows; none if that is nothing.
    From (a, b) to each successor of a with each of b in the other graph (`other`, `others`; turned: `back`, `sources`);
    crossed, of b with those of a. If they are to be kept `apart`, not to a node with itself. If a pair leads on to
    `few` pairs at most, on average, they are followed one by one, from a stack that has `room` for some at first. What
    was added to a row is compared with what others lack if it is one in `dense` of all nodes.
    """
    n, width = bits.shape
    if targets.shape[0] * others.shape[0] <= few * n * n:
        return _walk(offsets, targets, other, others, bits, left, crossed, apart, room, most)
    fresh = left.copy()
    image, front, wanted = np.zeros(width, np.uint64), np.zeros(width, np.uint64), np.empty(width, np.uint64)
    words = np.empty(width, np.int32)
    heads, queue, waiting = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(n, np.bool_)
    at, size = 0, 0
    for a in range(n):
        if np.any(fresh[a]):
            queue[size], waiting[a] = a, True
            size += 1
    while size and most > 0:
        a = queue[at]
        at = at + 1 if at + 1 < n else 0
        size -= 1
        waiting[a] = False
        if crossed:
            _follow(offsets, targets, fresh[a], front)
            after = heads[: _listed(front, heads)]
            front[:] = 0
            for e in range(other[a], other[a + 1]):
                image[others[e] >> 6] |= U(1) << U(others[e] & 63)
        else:
            after = targets[offsets[a] : offsets[a + 1]]
            added = _size(fresh[a]) if after.shape[0] else 0
            most -= added * (1 + others.shape[0] // n)
            if added * dense > n and _missing(bits, after, wanted) < added:
                _look_back(back, sources, fresh[a], wanted, image)
            elif added:
                _follow(other, others, fresh[a], image)
        fresh[a] = 0
        used = 0
        for w in range(width):
            if image[w]:
                words[used] = w
                used += 1
        for x in after:
            if _unite(image, words[:used], bits[x], fresh[x], x if apart else -1) and not waiting[x]:
                queue[(at + size) % n], waiting[x] = x, True
                size += 1
        image[words[:used]] = 0
        most -= width + after.shape[0] * used
    return fresh if size else fresh[:0]


@kernel
def _walk(
    offsets: Places,
    targets: Nodes,
    other: Places,
    others: Nodes,
    bits: Rows,
    left: Rows,
    crossed: bool,
    apart: bool,
    room: int,
    most: int,
) -> Rows:
    """Do the same pair by pair."""
    stack, size = np.empty(room, np.int64), 0
    for a in range(left.shape[0]):
        for w in range(left.shape[1]):
            word = left[a, w]
            while word:
                if size == stack.shape[0]:
                    stack = _doubled(stack)
                stack[size] = (np.int64(a) << 32) | (64 * w + lowest(word))
                size += 1
                word &= word - U(1)
    rest = bits[:0]  # room is made when something is left: to fill it took a third of the time
    while size:
        size, most = size - 1, most - 1
        a, b = stack[size] >> 32, stack[size] & 0xFFFFFFFF
        if most < 0:  # the others are left; here, as a stack in use after its loop makes the loop slow
            if not rest.shape[0]:
                rest = np.zeros_like(bits)
            rest[a, b >> 6] |= U(1) << U(b & 63)
            continue
        if crossed:
            a, b = b, a
        for e in range(offsets[a], offsets[a + 1]):
            x = np.int64(targets[e])
            for f in range(other[b], other[b + 1]):
                y = others[f]
                mask = U(1) << U(y & 63)
                if bits[x, y >> 6] & mask or (apart and x == y):
                    continue
                bits[x, y >> 6] |= mask
                if size == stack.shape[0]:
                    stack = _doubled(stack)
                stack[size] = (x << 32) | y
                size += 1
    return rest


@kernel
def _doubled(stack: Places) -> Places:
    more = np.empty(2 * stack.shape[0], np.int64)
    for i in range(stack.shape[0]):
        more[i] = stack[i]
    return more


@inlined
def _size(row: Words) -> Int:
    total = 0
    for w in range(row.shape[0]):
        total += ones(row[w])
    return total


@inlined
def _listed(row: Words, found: Nodes) -> Int:
    """List the positions of a row; return how many there are."""
    count = 0
    for w in range(row.shape[0]):
        word = row[w]
        while word:
            found[count] = 64 * w + lowest(word)
            count += 1
            word &= word - U(1)
    return count


@inlined
def _missing(bits: Rows, heads: Nodes, wanted: Words) -> Int:
    """Find the positions that some of the rows of heads do not have; return how many there are."""
    wanted[:] = 0
    for i in range(heads.shape[0]):
        for w in range(wanted.shape[0]):
            wanted[w] |= ~bits[heads[i], w]
    return _size(wanted)


@inlined
def _follow(offsets: Places, targets: Nodes, row: Words, image: Words) -> None:
    """Add to an image the successors of all nodes in a row."""
    for w in range(row.shape[0]):
        word = row[w]
        while word:
            b = 64 * w + lowest(word)
            word &= word - U(1)
            for e in range(offsets[b], offsets[b + 1]):
                y = targets[e]
                image[y >> 6] |= U(1) << U(y & 63)


@inlined
def _look_back(back: Places, sources: Nodes, row: Words, wanted: Words, image: Words) -> None:
    """Add to an image those of the nodes wanted that are successors of a node in a row."""
    n = back.shape[0] - 1
    for w in range(row.shape[0]):
        word = wanted[w]
        while word:
            y = 64 * w + lowest(word)
            word &= word - U(1)
            if y >= n:
                break
            for e in range(back[y], back[y + 1]):
                b = sources[e]
                if row[b >> 6] & (U(1) << U(b & 63)):
                    image[w] |= U(1) << U(y & 63)
                    break


@inlined
def _unite(image: Words, words: Nodes, row: Words, fresh: Words, but: int) -> bool:
    """Add some words of an image to a row, but for one position; tell whether any of it is new, and note that."""
    came = False
    for w in words:
        new = image[w] & ~row[w]
        if new and w == but >> 6:
            new &= ~(U(1) << U(but & 63))
        if new:
            row[w] |= new
            fresh[w] |= new
            came = True
    return came
