"""The functions on graphs as definitions, in numpy and Python: what small inputs need, so that they never load numba.

See `kernels` for what a graph and a row are. The two modules have the same functions, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Nodes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


NEVER = -2
"""The position of a node that is not wanted in rows, and that no edge leads to."""


def linked(sources: Nodes, targets: Nodes, n: int) -> tuple[Places, Nodes]:
    """Return the graph of edges, the successors of a node in the order given."""
    offsets = np.concatenate(([0], np.cumsum(np.bincount(sources, minlength=n)))).astype(np.int64)
    return offsets, targets[np.argsort(sources, kind="stable")]


def turned(offsets: Places, targets: Nodes) -> tuple[Places, Nodes]:
    """Return the graph with all edges reversed."""
    n = len(offsets) - 1
    sources = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
    back = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=n)))).astype(np.int64)
    return back, sources[np.argsort(targets, kind="stable")]


def components(offsets: Places, targets: Nodes, inside: Mask) -> tuple[Nodes, int]:
    """Number the strongly connected components of the nodes inside, successors first; return numbers and count.

    Tarjan's algorithm, without recursion.
    """
    n = len(inside)
    component = np.full(n, -1, np.int32)
    low: dict[int, int] = {}
    number: dict[int, int] = {}
    stack: list[int] = []
    count = 0
    for root in np.flatnonzero(inside).tolist():
        if root in number:
            continue
        path = [(root, _next(offsets, targets, inside, root))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while path:
            u, successors = path[-1]
            for v in successors:
                if v not in number:
                    number[v] = low[v] = len(number)
                    stack.append(v)
                    path.append((v, _next(offsets, targets, inside, v)))
                    break
                if component[v] < 0:
                    low[u] = min(low[u], number[v])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[u])
                if low[u] == number[u]:
                    while component[u] < 0:
                        component[stack.pop()] = count
                    count += 1
    return component, count


def _next(offsets: Places, targets: Nodes, inside: Mask, node: int) -> Iterator[int]:
    return (v for v in targets[offsets[node] : offsets[node + 1]].tolist() if inside[v])


def alike(offsets: Places, targets: Nodes, component: Nodes, count: int) -> tuple[Nodes, int, Mask]:
    """Put together components that reach the same: one with cycles, and those that lead nowhere but into it.

    Return the number of each node's, successors first; their count; and which nodes reach themselves.
    """
    lead: list[set[int]] = [set() for _ in range(count)]
    for u in np.flatnonzero(component >= 0).tolist():
        lead[component[u]].update(component[targets[offsets[u] : offsets[u + 1]]].tolist())
    number: list[int] = []
    size = 0
    for k, found in enumerate(lead):
        c = next(iter(found), -1)
        into = len(found) == 1 and c not in (-1, k) and c in lead[c]
        number.append(number[c] if into else size)
        size += not into
    numbers = np.array([*number, -1], np.int32)
    cyclic = np.array([*(k in found for k, found in enumerate(lead)), False])
    return numbers[component], size, cyclic[component]


def united(sources: Nodes, targets: Nodes, n: int) -> tuple[Nodes, int]:
    """Number the connected components of undirected edges by their first nodes; return numbers and their count."""
    first = np.arange(n, dtype=np.int32)
    while True:
        least = np.minimum(first[sources], first[targets])
        after = first.copy()
        np.minimum.at(after, first[sources], least)
        np.minimum.at(after, first[targets], least)
        after = after[after]
        if (after == first).all():
            break
        first = after
    number = np.cumsum(first == np.arange(n), dtype=np.int32)
    return number[first] - 1, int(number[-1]) if n else 0


def bit_rows(
    offsets: Places, targets: Nodes, place: Nodes, row: Nodes, starts: Places, members: Nodes, bits: Words
) -> None:
    """Fill the rows of components, successors first; those of all other successors are there."""
    for k in range(len(starts) - 1):
        inside = members[starts[k] : starts[k + 1]]
        own = row[inside[0]]
        if own < 0:
            continue
        bits[own] = 0
        after = {v for u in inside.tolist() for v in targets[offsets[u] : offsets[u + 1]].tolist()}
        for v in after:
            if place[v] >= 0:
                bits[own, place[v] >> 6] |= np.uint64(1 << (int(place[v]) & 63))
        for other in {int(row[v]) for v in after} - {-1, int(own)}:
            bits[own] |= bits[other]


def count_bits(bits: Words, rows: Nodes) -> Places:
    """Return the number of positions in each of the rows."""
    return np.asarray(np.bitwise_count(bits[rows]).sum(axis=1, dtype=np.int64))


def count_searched(offsets: Places, targets: Nodes, place: Nodes, nodes: Nodes, fresh: Mask) -> tuple[Places, int]:
    """Return the number of positions in the row of each node, and of edges looked at to find all of them.

    A node that is not `fresh` reaches all that the one before it does: the search goes on from there.
    """
    counts = np.empty(len(nodes), np.int64)
    work = 0
    found: set[int] = set()
    for i, node in enumerate(nodes.tolist()):
        before = set() if fresh[i] else found
        found = _reach(offsets, targets, node)
        counts[i] = sum(place[v] >= 0 for v in found)
        work += sum(int(offsets[u + 1] - offsets[u]) for u in (node, *(found - before)))
    return counts, work


def chained(
    offsets: Places, targets: Nodes, component: Nodes, starts: Places, members: Nodes
) -> tuple[Nodes, Nodes, Mask]:
    """Arrange components in chains, each leading to the next below it, so that searches go on from one another.

    Return for each component the one node it leads to, if it is one node that leads to one other, else -1; and the
    first nodes of all components that lead to more, chain by chain and upwards, and which of these begin a chain.
    """
    count = len(starts) - 1
    via = np.full(count, -1, np.int32)
    below: dict[int, int] = {}
    taken: set[int] = set()
    many: set[int] = set()
    for k in range(count):
        after = {v for u in members[starts[k] : starts[k + 1]].tolist() for v in targets[offsets[u] : offsets[u + 1]]}
        lower = {int(component[v]) for v in after}
        if len(after) > 1 or k in lower:
            many.add(k)
        elif after:
            via[k] = after.pop()
        if free := lower - taken - {k}:
            below[k] = max(free)
            taken.add(below[k])
    nodes: list[int] = []
    fresh: list[bool] = []
    for k in sorted(set(range(count)) - taken):
        chain = [k]
        while chain[-1] in below:
            chain.append(below[chain[-1]])
        found = [c for c in reversed(chain) if c in many]
        nodes += members[starts[found]].tolist()
        fresh += [i == 0 for i in range(len(found))]
    return via, np.array(nodes, np.int32), np.array(fresh, np.bool_)


def carried(via: Nodes, component: Nodes, cyclic: Mask, place: Nodes, counts: Places) -> None:
    """Count the positions in the rows of components that lead to one node: those in its row, and its own."""
    for k in np.flatnonzero(via >= 0).tolist():
        counts[k] = counts[component[via[k]]] + (place[via[k]] >= 0 and not cyclic[via[k]])


def reached(offsets: Places, targets: Nodes, starts: Nodes) -> Mask:
    """Tell which nodes are among the starts or reached from them."""
    seen = np.zeros(len(offsets) - 1, np.bool_)
    stack = list(dict.fromkeys(starts.tolist()))
    seen[stack] = True
    while stack:
        u = stack.pop()
        for v in targets[offsets[u] : offsets[u + 1]].tolist():
            if not seen[v]:
                seen[v] = True
                stack.append(v)
    return seen


def fill_bits(
    bits: Words,
    rows: Nodes,
    firsts: Places,
    members: Nodes,
    starts: Places,
    left: Words,
    right: Words,
    out: Words,
) -> None:
    """Write pairs: of each group of members, with the positions in its row of bits."""
    for g, row in enumerate(rows.tolist()):
        found = np.flatnonzero(np.unpackbits(bits[row].view(np.uint8), bitorder="little"))
        _emit(found, members[firsts[g] : firsts[g + 1]], starts, left, right, out)


def fill_lists(
    offsets: Places,
    positions: Nodes,
    rows: Nodes,
    firsts: Places,
    members: Nodes,
    starts: Places,
    left: Words,
    right: Words,
    out: Words,
) -> None:
    """Write pairs: of each group of members, with the positions in its list."""
    for g, row in enumerate(rows.tolist()):
        found = positions[offsets[row] : offsets[row + 1]]
        _emit(found, members[firsts[g] : firsts[g + 1]], starts, left, right, out)


def fill_searched(
    offsets: Places,
    targets: Nodes,
    place: Nodes,
    rows: Nodes,
    firsts: Places,
    members: Nodes,
    starts: Places,
    left: Words,
    right: Words,
    out: Words,
) -> None:
    """Write pairs: of each group of members, with the positions of what a node reaches."""
    ends, lists = list_searched(offsets, targets, place, rows, 0)
    fill_lists(ends, lists, np.arange(len(rows), dtype=np.int32), firsts, members, starts, left, right, out)


def list_searched(
    offsets: Places,
    targets: Nodes,
    place: Nodes,
    nodes: Nodes,
    room: int,  # noqa: ARG001  (its twin has to begin with some)
) -> tuple[Places, Nodes]:
    """Return the positions of what each node reaches, in order of the nodes, as lists one after another."""
    found = [np.sort(np.fromiter(_reach(offsets, targets, node), np.int32)) for node in nodes.tolist()]
    lists = [places[places >= 0] for places in (place[reached] for reached in found)]
    ends = np.concatenate(([0], np.cumsum([len(positions) for positions in lists]))).astype(np.int64)
    return ends, np.concatenate(lists) if lists else np.empty(0, np.int32)


def _reach(offsets: Places, targets: Nodes, node: int) -> set[int]:
    """Return what a node reaches by one step or more."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        u = stack.pop()
        for v in targets[offsets[u] : offsets[u + 1]].tolist():
            if v not in seen:
                seen.add(v)
                stack.append(v)
    return seen


def _emit(
    found: npt.NDArray[np.signedinteger], members: Nodes, starts: Places, left: Words, right: Words, out: Words
) -> None:
    for j in members.tolist():
        out[:, starts[j] : starts[j] + len(found)] = left[:, j : j + 1] | right[:, found]


def altered(offsets: Places, targets: Nodes, n: int, lost: Nodes, gained: Nodes) -> tuple[Places, Nodes, int]:
    """Return a graph of n nodes without some edges and with others, given as two lines in order of their sources.

    Also return how many edges to take away were not there.
    """
    missing = 0
    keep = np.ones(len(targets), bool)
    for u, v in lost.T.tolist():
        there = np.flatnonzero(keep[offsets[u] : offsets[u + 1]] & (targets[offsets[u] : offsets[u + 1]] == v))
        missing += not len(there)
        keep[offsets[u] + there[:1]] = False
    sources = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))[keep]
    found = linked(np.concatenate((sources, gained[0])), np.concatenate((targets[keep], gained[1])), n)
    return *found, missing


def apart(offsets: Places, targets: Nodes, edges: Nodes, most: int) -> Mask:
    """Tell of each edge whether its source does not reach its target, as far as `most` steps tell."""
    found = np.ones(edges.shape[1], bool)
    for i, (u, v) in enumerate(edges.T.tolist()):
        seen = _reach(offsets, targets, u) if most > 0 else set()
        most -= sum(int(offsets[w + 1] - offsets[w]) for w in (u, *seen))
        found[i] = v not in seen
    return found


def bypassed(offsets: Places, targets: Nodes, place: Nodes, row: Nodes, bits: Words, edges: Nodes) -> Mask:
    """Tell of each edge whether another successor of its source reaches its target, and not its source, by old rows."""

    def has(node: int, p: int) -> bool:
        return row[node] >= 0 and bool((int(bits[row[node], p >> 6]) >> (p & 63)) & 1)

    found = np.zeros(edges.shape[1], bool)
    for i, (u, v) in enumerate(edges.T.tolist()):
        p, q = int(place[v]), int(place[u])
        for w in targets[offsets[u] : offsets[u + 1]].tolist():
            far = p >= 0 and has(w, p) and (q == NEVER or (q >= 0 and not has(w, q)))
            found[i] |= w == v or far
    return found


def list_bits(bits: Words, rows: Nodes) -> tuple[Places, Nodes]:
    """Return the positions of each row, -1 being an empty one, as lists one after another."""
    return _as_lists([_positions(bits, row) for row in rows.tolist()])


def bits_differing(
    bits: Words,
    rows: Nodes,
    other: Words,
    others: Nodes,
    room: int,  # noqa: ARG001  (its twin has to begin with some)
) -> tuple[Places, Nodes, Places, Nodes]:
    """Return the positions of each row that are not in the other one, and the other way round; -1 is an empty row."""
    one = [_positions(bits, row) for row in rows.tolist()]
    two = [_positions(other, row) for row in others.tolist()]
    pairs = list(zip(one, two, strict=True))
    return *_as_lists([np.setdiff1d(a, b) for a, b in pairs]), *_as_lists([np.setdiff1d(b, a) for a, b in pairs])


def _positions(bits: Words, row: int) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(bits[row].view(np.uint8), bitorder="little")) if row >= 0 else _NOTHING


def lists_without(ends: Places, lists: Nodes, other_ends: Places, others: Nodes) -> tuple[Places, Nodes]:
    """Return the positions of each list that are not in the other of the same number; all are ascending."""
    return _as_lists([
        np.setdiff1d(lists[ends[i] : ends[i + 1]], others[other_ends[i] : other_ends[i + 1]])
        for i in range(len(ends) - 1)
    ])  # fmt: skip


def generations(
    offsets: Places,
    targets: Nodes,
    other: Places,
    others: Nodes,
    back: Places,  # noqa: ARG001  (its twin looks back)
    sources: Nodes,  # noqa: ARG001
    bits: Words,
    left: Words,
    crossed: bool,
    apart: bool,
    few: int,  # noqa: ARG001  (its twin has other ways, where few pairs lead on, or rows are dense)
    dense: int,  # noqa: ARG001
    room: int,  # noqa: ARG001
    most: int,
) -> Words:
    """Add to rows of bits, one for each node, all pairs that those `left` lead on to; `most` bounds the steps, roughly.

    Return what is left then to lead on, as such rows; none if that is nothing.
    From (a, b) to each successor of a with each of b in the other graph (`other`, `others`; turned: `back`, `sources`);
    crossed, of b with those of a. If they are to be kept `apart`, not to a node with itself.
    """
    n = len(bits)
    one, two = (
        [set(to[ends[u] : ends[u + 1]].tolist()) for u in range(n)]
        for ends, to in ((offsets, targets), (other, others))
    )
    rows = [set(_positions(bits, u).tolist()) for u in range(n)]
    fresh = {u: set(row) for u, row in ((u, _positions(left, u).tolist()) for u in range(n)) if row}
    while fresh and most > 0:
        a, found = fresh.popitem()
        heads = {x for b in found for x in one[b]} if crossed else one[a]
        image = two[a] if crossed else {y for b in found for y in two[b]}
        for x in heads:
            new = image - rows[x] - ({x} if apart else set())
            if new:
                rows[x] |= new
                fresh.setdefault(x, set()).update(new)
        most -= len(heads) * len(image) + 1
    _add_positions(bits, dict(enumerate(rows)))
    rest = np.zeros_like(bits if fresh else bits[:0])
    _add_positions(rest, fresh)
    return rest


def _add_positions(bits: Words, rows: dict[int, set[int]]) -> None:
    for u, row in rows.items():
        for p in row:
            bits[u, p >> 6] |= np.uint64(1 << (p & 63))


_NOTHING = np.empty(0, np.int64)


def _as_lists(found: list[npt.NDArray[np.int64]]) -> tuple[Places, Nodes]:
    ends = np.concatenate(([0], np.cumsum([len(positions) for positions in found]))).astype(np.int64)
    return ends, np.concatenate((_NOTHING, *found)).astype(np.int32)
