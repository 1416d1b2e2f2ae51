"""Components, rows of bits, searches and union-find, and writing pairs."""

from __future__ import annotations

import numpy as np

from tidelog.run.closure.kernels.words import lowest, ones
from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Int, Mask, Nodes, Places, Rows, Words

U = np.uint64


@kernel
def linked(sources: Nodes, targets: Nodes, n: int) -> tuple[Places, Nodes]:
    """Return the graph of edges, the successors of a node in the order given."""
    offsets = np.zeros(n + 1, np.int64)
    for e in range(sources.shape[0]):
        offsets[sources[e] + 1] += 1
    for u in range(n):
        offsets[u + 1] += offsets[u]
    at = offsets[:n].copy()
    out = np.empty(targets.shape[0], np.int32)
    for e in range(sources.shape[0]):
        u = sources[e]
        out[at[u]] = targets[e]
        at[u] += 1
    return offsets, out


@kernel
def turned(offsets: Places, targets: Nodes) -> tuple[Places, Nodes]:
    """Return the graph with all edges reversed."""
    n, m = offsets.shape[0] - 1, targets.shape[0]
    back = np.zeros(n + 1, np.int64)
    for e in range(m):
        back[targets[e] + 1] += 1
    for v in range(n):
        back[v + 1] += back[v]
    at = back[:n].copy()
    sources = np.empty(m, np.int32)
    for u in range(n):
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            sources[at[v]] = u
            at[v] += 1
    return back, sources


@kernel
def components(offsets: Places, targets: Nodes, inside: Mask) -> tuple[Nodes, int]:
    """Number the strongly connected components of the nodes inside, successors first; return numbers and count."""
    n = inside.shape[0]
    component = np.full(n, -1, np.int32)
    number, low = np.zeros(n, np.int32), np.empty(n, np.int32)
    stack, path, edge = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    seen, count, top = 0, 0, 0
    for root in range(n):
        if not inside[root] or number[root]:
            continue
        depth = 0
        seen += 1
        number[root] = low[root] = seen
        stack[top] = root
        top += 1
        path[0], edge[0] = root, offsets[root]
        while depth >= 0:
            u = path[depth]
            e, end = edge[depth], offsets[u + 1]
            deeper = False
            while e < end:
                v = targets[e]
                e += 1
                if not inside[v]:
                    continue
                if number[v] == 0:
                    seen += 1
                    number[v] = low[v] = seen
                    stack[top] = v
                    top += 1
                    edge[depth] = e
                    depth += 1
                    path[depth], edge[depth] = v, offsets[v]
                    deeper = True
                    break
                if component[v] < 0 and number[v] < low[u]:
                    low[u] = number[v]
            if deeper:
                continue
            if low[u] == number[u]:
                while True:
                    top -= 1
                    v = stack[top]
                    component[v] = count
                    if v == u:
                        break
                count += 1
            depth -= 1
            if depth >= 0:
                w = path[depth]
                low[w] = min(low[w], low[u])
    return component, count


@kernel
def alike(offsets: Places, targets: Nodes, component: Nodes, count: int) -> tuple[Nodes, int, Mask]:
    """Put together components that reach the same: one with cycles, and those that lead nowhere but into it.

    Return the number of each node's, successors first; their count; and which nodes reach themselves.
    """
    n = offsets.shape[0] - 1
    none, several = -1, -2
    only = np.full(count, none, np.int32)
    cyclic = np.zeros(count, np.bool_)
    for u in range(n):
        k = component[u]
        if k < 0:
            continue
        for e in range(offsets[u], offsets[u + 1]):
            c = component[targets[e]]
            cyclic[k] |= c == k
            if c < 0 or (only[k] != none and only[k] != c):
                only[k] = several
            else:
                only[k] = c
    number = np.empty(count, np.int32)
    size = 0
    for k in range(count):
        c = only[k]
        if c >= 0 and c != k and cyclic[c]:
            number[k] = number[c]
        else:
            number[k] = size
            size += 1
    together, itself = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
    for u in range(n):
        k = component[u]
        if k >= 0:
            together[u], itself[u] = number[k], cyclic[k]
    return together, size, itself


@kernel
def united(sources: Nodes, targets: Nodes, n: int) -> tuple[Nodes, int]:
    """Number the connected components of undirected edges by their first nodes; return numbers and their count."""
    parent = np.empty(n, np.int32)
    for u in range(n):
        parent[u] = u
    for e in range(sources.shape[0]):
        u, v = sources[e], targets[e]
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        if u < v:
            parent[v] = u
        else:
            parent[u] = v
    count = 0
    component = np.empty(n, np.int32)
    for u in range(n):  # a parent comes before its children
        if parent[u] == u:
            component[u] = count
            count += 1
        else:
            component[u] = component[parent[u]]
    return component, count


@kernel
def bit_rows(
    offsets: Places, targets: Nodes, place: Nodes, row: Nodes, starts: Places, members: Nodes, bits: Rows
) -> None:
    """Fill the rows of components, successors first; those of all other successors are there."""
    width = bits.shape[1]
    for k in range(starts.shape[0] - 1):
        own = row[members[starts[k]]]
        if own < 0:
            continue
        for w in range(width):
            bits[own, w] = 0
        for i in range(starts[k], starts[k + 1]):
            u = members[i]
            for e in range(offsets[u], offsets[u + 1]):
                v = targets[e]
                p, other = place[v], row[v]
                if p >= 0:
                    mask = U(1) << U(p & 63)
                    if bits[own, p >> 6] & mask:
                        continue  # whatever brought v brought all that it reaches
                    bits[own, p >> 6] |= mask
                if other >= 0 and other != own:
                    for w in range(width):
                        bits[own, w] |= bits[other, w]


@kernel
def count_bits(bits: Rows, rows: Nodes) -> Places:
    """Return the number of positions in each of the rows."""
    counts = np.empty(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        total = 0
        for w in range(bits.shape[1]):
            total += ones(bits[rows[i], w])
        counts[i] = total
    return counts


@kernel
def count_searched(offsets: Places, targets: Nodes, place: Nodes, nodes: Nodes, fresh: Mask) -> tuple[Places, Int]:
    """Return the number of positions in the row of each node, and of edges looked at to find all of them.

    A node that is not `fresh` reaches all that the one before it does: the search goes on from there.
    """
    n = offsets.shape[0] - 1
    seen, stack = np.zeros(n, np.int32), np.empty(n, np.int32)
    counts = np.empty(nodes.shape[0], np.int64)
    work, total, stamp = 0, 0, 1
    for i in range(nodes.shape[0]):
        if fresh[i]:
            total = 0
            stamp += 1
        u, top = nodes[i], 0
        while True:
            work += offsets[u + 1] - offsets[u]
            for e in range(offsets[u], offsets[u + 1]):
                v = targets[e]
                if seen[v] != stamp:
                    seen[v] = stamp
                    stack[top] = v
                    top += 1
                    if place[v] >= 0:
                        total += 1
            if top == 0:
                break
            top -= 1
            u = stack[top]
        counts[i] = total
    return counts, work


@kernel
def chained(
    offsets: Places, targets: Nodes, component: Nodes, starts: Places, members: Nodes
) -> tuple[Nodes, Nodes, Mask]:
    """Arrange components in chains, each leading to the next below it, so that searches go on from one another.

    Return for each component the one node it leads to, if it is one node that leads to one other, else -1; and the
    first nodes of all components that lead to more, chain by chain and upwards, and which of these begin a chain.
    """
    count = starts.shape[0] - 1
    via, below = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    taken, many = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for k in range(count):
        one = -1
        for i in range(starts[k], starts[k + 1]):
            u = members[i]
            for e in range(offsets[u], offsets[u + 1]):
                v = targets[e]
                c = component[v]
                many[k] |= c == k or (one >= 0 and v != one)
                one = v
                if c != k and c > below[k] and not taken[c]:
                    below[k] = c
        if not many[k]:
            via[k] = one
        if below[k] >= 0:
            taken[below[k]] = True
    nodes, fresh, chain = np.empty(count, np.int32), np.empty(count, np.bool_), np.empty(count, np.int32)
    size = 0
    for k in range(count):
        if taken[k]:
            continue
        length, c = 0, k
        while c >= 0:
            if many[c]:
                chain[length] = c
                length += 1
            c = below[c]
        for i in range(length):
            nodes[size] = members[starts[chain[length - 1 - i]]]
            fresh[size] = i == 0
            size += 1
    return via, nodes[:size], fresh[:size]


@kernel
def carried(via: Nodes, component: Nodes, cyclic: Mask, place: Nodes, counts: Places) -> None:
    """Count the positions in the rows of components that lead to one node: those in its row, and its own."""
    for k in range(via.shape[0]):
        v = via[k]
        if v >= 0:
            counts[k] = counts[component[v]] + (place[v] >= 0 and not cyclic[v])


@kernel
def reached(offsets: Places, targets: Nodes, starts: Nodes) -> Mask:
    """Tell which nodes are among the starts or reached from them."""
    n = offsets.shape[0] - 1
    seen, stack = np.zeros(n, np.bool_), np.empty(n, np.int32)
    top = 0
    for i in range(starts.shape[0]):
        if not seen[starts[i]]:
            seen[starts[i]] = True
            stack[top] = starts[i]
            top += 1
    while top > 0:
        top -= 1
        u = stack[top]
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            if not seen[v]:
                seen[v] = True
                stack[top] = v
                top += 1
    return seen


@kernel
def _emit(
    found: Nodes, count: int, members: Nodes, first: int, last: int, starts: Places, left: Rows, right: Rows, out: Rows
) -> None:
    """Write the pairs of the members of a group with the positions found."""
    codes = np.empty(count, np.uint64)
    for w in range(out.shape[0]):
        for q in range(count):
            codes[q] = right[w, found[q]]
        for i in range(first, last):
            j = members[i]
            code = left[w, j]
            line = out[w, starts[j] : starts[j] + count]
            for q in range(count):
                line[q] = code | codes[q]


@kernel
def fill_bits(
    bits: Rows, rows: Nodes, firsts: Places, members: Nodes, starts: Places, left: Rows, right: Rows, out: Rows
) -> None:
    """Write pairs: of each group of members, with the positions in its row of bits."""
    found = np.empty(64 * bits.shape[1], np.int32)
    for g in range(rows.shape[0]):
        count = 0
        for w in range(bits.shape[1]):
            word = bits[rows[g], w]
            while word:
                found[count] = 64 * w + lowest(word)
                count += 1
                word &= word - U(1)
        _emit(found, count, members, firsts[g], firsts[g + 1], starts, left, right, out)


@kernel
def fill_lists(
    offsets: Places,
    positions: Nodes,
    rows: Nodes,
    firsts: Places,
    members: Nodes,
    starts: Places,
    left: Rows,
    right: Rows,
    out: Rows,
) -> None:
    """Write pairs: of each group of members, with the positions in its list."""
    for g in range(rows.shape[0]):
        found = positions[offsets[rows[g]] : offsets[rows[g] + 1]]
        _emit(found, found.shape[0], members, firsts[g], firsts[g + 1], starts, left, right, out)


@part
def _search(
    offsets: Places, targets: Nodes, place: Nodes, start: int, seen: Words, touched: Words, stack: Nodes, found: Nodes
) -> Int:
    """Find the positions of what a node reaches, in order of the nodes; the bitmaps are empty before and after."""
    u, top = start, 0
    while True:
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            mask = U(1) << U(v & 63)
            if not seen[v >> 6] & mask:
                seen[v >> 6] |= mask
                touched[v >> 12] |= U(1) << U((v >> 6) & 63)
                stack[top] = v
                top += 1
        if top == 0:
            break
        top -= 1
        u = stack[top]
    count = 0
    for t in range(touched.shape[0]):
        over = touched[t]
        touched[t] = 0
        while over:
            w = 64 * t + lowest(over)
            over &= over - U(1)
            word = seen[w]
            seen[w] = 0
            while word:
                p = place[64 * w + lowest(word)]
                word &= word - U(1)
                if p >= 0:
                    found[count] = p
                    count += 1
    return count


@kernel
def fill_searched(
    offsets: Places,
    targets: Nodes,
    place: Nodes,
    rows: Nodes,
    firsts: Places,
    members: Nodes,
    starts: Places,
    left: Rows,
    right: Rows,
    out: Rows,
) -> None:
    """Write pairs: of each group of members, with the positions of what a node reaches."""
    n = offsets.shape[0] - 1
    seen, touched = np.zeros((n >> 6) + 1, np.uint64), np.zeros((n >> 12) + 1, np.uint64)
    stack, found = np.empty(n, np.int32), np.empty(n, np.int32)
    for g in range(rows.shape[0]):
        count = _search(offsets, targets, place, rows[g], seen, touched, stack, found)
        _emit(found, count, members, firsts[g], firsts[g + 1], starts, left, right, out)


@kernel
def list_searched(offsets: Places, targets: Nodes, place: Nodes, nodes: Nodes, room: int) -> tuple[Places, Nodes]:
    """Return the positions of what each node reaches, in order of the nodes, as lists one after another.

    There is `room` for some at first.
    """
    n = offsets.shape[0] - 1
    seen, touched = np.zeros((n >> 6) + 1, np.uint64), np.zeros((n >> 12) + 1, np.uint64)
    stack, found = np.empty(n, np.int32), np.empty(n, np.int32)
    ends = np.zeros(nodes.shape[0] + 1, np.int64)
    lists = np.empty(room, np.int32)
    total = 0
    for i in range(nodes.shape[0]):
        count = _search(offsets, targets, place, nodes[i], seen, touched, stack, found)
        if total + count > lists.shape[0]:
            more = np.empty(2 * (total + count), np.int32)
            for k in range(total):
                more[k] = lists[k]
            lists = more
        for k in range(count):
            lists[total + k] = found[k]
        total += count
        ends[i + 1] = total
    return ends, lists[:total]
