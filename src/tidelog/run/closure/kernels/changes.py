"""Edges that come and go, and how rows differ."""

from __future__ import annotations

import numpy as np

from tidelog.run.closure.kernels.words import lowest, ones
from tidelog.run.kernel_cache import kernel
from tidelog.run.kernel_types import Edges, Mask, Nodes, Places, Rows

U = np.uint64
NEVER = -2


@kernel
def altered(offsets: Places, targets: Nodes, n: int, lost: Edges, gained: Edges) -> tuple[Places, Nodes, int]:
    """Return a graph of n nodes without some edges and with others, given as two lines in order of their sources.

    Also return how many edges to take away were not there.
    """
    old = offsets.shape[0] - 1
    ends = np.empty(n + 1, np.int64)
    out = np.empty(targets.shape[0] + gained.shape[1], np.int32)
    at, i, j, missing = 0, 0, 0, 0
    for u in range(n):
        first = at
        ends[u] = at
        if u < old:
            for e in range(offsets[u], offsets[u + 1]):
                out[at] = targets[e]
                at += 1
        while i < lost.shape[1] and lost[0, i] == u:
            k = first
            while k < at and out[k] != lost[1, i]:
                k += 1
            if k < at:
                at -= 1
                out[k] = out[at]
            else:
                missing += 1
            i += 1
        while j < gained.shape[1] and gained[0, j] == u:
            out[at] = gained[1, j]
            at += 1
            j += 1
    ends[n] = at
    return ends, out[:at], missing


@kernel
def apart(offsets: Places, targets: Nodes, edges: Edges, most: int) -> Mask:
    """Tell of each edge whether its source does not reach its target, as far as `most` steps tell."""
    n = offsets.shape[0] - 1
    seen, stack = np.zeros(n, np.int32), np.empty(n, np.int32)
    found = np.ones(edges.shape[1], np.bool_)
    for i in range(edges.shape[1]):
        u, wanted, top = edges[0, i], edges[1, i], 0
        while most > 0:
            for e in range(offsets[u], offsets[u + 1]):
                v = targets[e]
                most -= 1
                if v == wanted:
                    found[i] = False
                    break
                if seen[v] != i + 1:
                    seen[v] = i + 1
                    stack[top] = v
                    top += 1
            if not found[i] or top == 0:
                break
            top -= 1
            u = stack[top]
    return found


@kernel
def bypassed(offsets: Places, targets: Nodes, place: Nodes, row: Nodes, bits: Rows, edges: Edges) -> Mask:
    """Tell of each edge whether another successor of its source reaches its target, and not its source, by old rows."""
    found = np.zeros(edges.shape[1], np.bool_)
    for i in range(edges.shape[1]):
        u, v = edges[0, i], edges[1, i]
        p, q = place[v], place[u]
        for e in range(offsets[u], offsets[u + 1]):
            w = targets[e]
            if w == v:
                found[i] = True
            elif p >= 0 and row[w] >= 0 and bits[row[w], p >> 6] & (U(1) << U(p & 63)):
                found[i] = q == NEVER or (q >= 0 and not bits[row[w], q >> 6] & (U(1) << U(q & 63)))
            if found[i]:
                break
    return found


@kernel
def list_bits(bits: Rows, rows: Nodes) -> tuple[Places, Nodes]:
    """Return the positions of each row, -1 being an empty one, as lists one after another."""
    ends = np.zeros(rows.shape[0] + 1, np.int64)
    for i in range(rows.shape[0]):
        total = 0
        if rows[i] >= 0:
            for w in range(bits.shape[1]):
                total += ones(bits[rows[i], w])
        ends[i + 1] = ends[i] + total
    lists = np.empty(ends[-1], np.int32)
    for i in range(rows.shape[0]):
        at = ends[i]
        if at < ends[i + 1]:
            for w in range(bits.shape[1]):
                word = bits[rows[i], w]
                while word:
                    lists[at] = 64 * w + lowest(word)
                    at += 1
                    word &= word - U(1)
    return ends, lists


@kernel
def _longer(lists: Nodes, count: int, more: int) -> Nodes:
    """Return a list with room for more positions."""
    if count + more <= lists.shape[0]:
        return lists
    longer = np.empty(2 * (count + more), np.int32)
    for i in range(count):
        longer[i] = lists[i]
    return longer


@kernel
def bits_differing(
    bits: Rows, rows: Nodes, other: Rows, others: Nodes, room: int
) -> tuple[Places, Nodes, Places, Nodes]:
    """Return the positions of each row that are not in the other one, and the other way round; -1 is an empty row.

    There is `room` for some at first.
    """
    n, width, wide = rows.shape[0], bits.shape[1], other.shape[1]
    lost, gained = np.empty(room, np.int32), np.empty(room, np.int32)
    lost_ends, gained_ends = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    differing, words = np.empty(max(width, wide), np.int64), np.empty(max(width, wide), np.uint64)
    a, b = 0, 0
    for i in range(n):
        r, q = rows[i], others[i]
        count, both = 0, min(width if r >= 0 else 0, wide if q >= 0 else 0)
        for w in range(both):
            word = bits[r, w] ^ other[q, w]
            differing[count], words[count] = w, word
            count += word != 0  # without a branch: which words differ cannot be foreseen
        for w in range(both, width if r >= 0 else 0):
            differing[count], words[count] = w, bits[r, w]
            count += bits[r, w] != 0
        for w in range(both, wide if q >= 0 else 0):
            differing[count], words[count] = w, other[q, w]
            count += other[q, w] != 0
        lost, gained = _longer(lost, a, 64 * count), _longer(gained, b, 64 * count)
        for c in range(count):
            w, word = differing[c], words[c]
            had = bits[r, w] if r >= 0 and w < width else U(0)
            while word:
                p = lowest(word)
                if had >> U(p) & U(1):
                    lost[a] = 64 * w + p
                    a += 1
                else:
                    gained[b] = 64 * w + p
                    b += 1
                word &= word - U(1)
        lost_ends[i + 1], gained_ends[i + 1] = a, b
    return lost_ends, lost[:a], gained_ends, gained[:b]


@kernel
def lists_without(ends: Places, lists: Nodes, other_ends: Places, others: Nodes) -> tuple[Places, Nodes]:
    """Return the positions of each list that are not in the other of the same number; all are ascending."""
    out_ends = np.zeros(ends.shape[0], np.int64)
    out = np.empty(lists.shape[0], np.int32)
    at = 0
    for i in range(ends.shape[0] - 1):
        b, end = other_ends[i], other_ends[i + 1]
        for a in range(ends[i], ends[i + 1]):
            while b < end and others[b] < lists[a]:
                b += 1
            if b == end or others[b] != lists[a]:
                out[at] = lists[a]
                at += 1
        out_ends[i + 1] = at
    return out_ends, out[:at]
