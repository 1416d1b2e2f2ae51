"""Programs over many rows, each in two languages: as Tidelog's text, and as queries of DuckDB, which share no code.

Engines choose other ways for many rows than for few, so what is true of tiny data need not be true of much. Data are
random and skewed: keys of which nearly all rows have the same, numbers that fill a word, graphs of many shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tidelog.base.record import record

if TYPE_CHECKING:
    from numpy.random import Generator

Draw = Callable[[int], pa.Table]
"""Makes about that many random rows."""


@record
class Sized:
    """A program, what draws the rows of its inputs, which share of all rows each has, and a query for every answer.

    A query reads inputs and the answers before it by their names; the order of its columns is the relation's.
    """

    program: str
    inputs: dict[str, tuple[Draw, float]]
    answers: dict[str, str]


def _kinds(rng: Generator, count: int, distinct: int) -> Any:
    """Draw texts: one of them nearly always, or all alike, or in between."""
    power = rng.choice([0.0, 1.0, 3.0, 12.0])
    places = (distinct * rng.random(count) ** (1 + power)).astype(np.int64)
    return pa.DictionaryArray.from_arrays(pa.array(places), pa.array([f"kind{n}" for n in range(distinct)])).cast(
        pa.string()
    )


def _words(rng: Generator, count: int, bits: int) -> Any:
    """Draw numbers of up to 64 bits, none negative."""
    return pa.array(rng.integers(0, (1 << bits) - 1, count, dtype=np.uint64, endpoint=True))


def documents(rng: Generator, rows: int) -> Sized:
    """Rows wider than a word: joins on both columns, negation, counts."""
    distinct, bits = int(rng.choice([1, 20, max(20, rows // 150)])), int(rng.choice([20, 40, 64]))

    def draw(count: int) -> pa.Table:
        rare = max(1, count // 1_000)
        kinds = pa.concat_arrays(
            [_kinds(rng, count - rare, distinct), pa.array([f"rare{n % 20}" for n in range(rare)])]
        )
        made.append(pa.table({"k": kinds, "h": _words(rng, count, bits)}))
        return made[-1]

    def ask(count: int) -> pa.Table:
        """Ask for documents that were drawn, and for some that perhaps were not."""
        known = made[int(rng.integers(len(made)))] if made else draw(1)
        return pa.concat_tables([known.take(rng.integers(0, len(known), count)), draw(1 + count // 5)])

    made: list[pa.Table] = []
    return Sized(
        """
        input relation Doc(k: string, h: u64)
        input relation Asked(k: string, h: u64)
        output relation Missing(k: string, h: u64)
        output relation Known(k: string, h: u64)
        output relation Kinds(k: string, n: u64, least: u64, most: u64)
        output relation Alone(k: string)
        Missing(k, h) :- Asked(k, h), not Doc(k, h).
        Known(k, h) :- Asked(k, h), Doc(k, h).
        relation Least(k: string, h: u64)
        relation Most(k: string, h: u64)
        relation Count(k: string, n: u64)
        Least(k, x) :- Doc(k, h), var x = h.group_by(k).min().
        Most(k, x) :- Doc(k, h), var x = h.group_by(k).max().
        Count(k, x) :- Doc(k, h), var x = h.group_by(k).count().
        Kinds(k, n, a, b) :- Count(k, n), Least(k, a), Most(k, b).
        Alone(k) :- Count(k, _), not Known(k, _).
        """,
        {"Doc": (draw, 0.9), "Asked": (ask, 0.1)},
        {
            "Missing": "SELECT * FROM Asked EXCEPT SELECT * FROM Doc",
            "Known": "SELECT * FROM Asked INTERSECT SELECT * FROM Doc",
            "Kinds": "SELECT k, count(*)::UBIGINT, min(h), max(h) FROM Doc GROUP BY k",
            "Alone": "SELECT DISTINCT k FROM Doc WHERE k NOT IN (SELECT k FROM Known)",
        },
    )


def orders(rng: Generator, rows: int) -> Sized:
    """Several strata over wide rows: joins of three relations, sums, negation of what was summed."""
    people, bits = max(10, rows // int(rng.choice([3, 30, 3_000]))), int(rng.choice([16, 64]))

    def some_order(count: int) -> pa.Table:
        who = (people * rng.random(count) ** 2).astype(np.int64)
        names = pa.array([f"p{n}" for n in who.tolist()])
        amounts = pa.array(rng.integers(-50, 1_000, count))
        return pa.table({"o": _words(rng, count, bits), "p": names, "i": _kinds(rng, count, 300), "n": amounts})

    def some_person(count: int) -> pa.Table:
        names = pa.array([f"p{n}" for n in rng.integers(0, people, count).tolist()])
        return pa.table({"p": names, "r": _kinds(rng, count, 12)})

    return Sized(
        """
        input relation Order(o: u64, p: string, i: string, n: signed<64>)
        input relation Person(p: string, r: string)
        output relation In(r: string, o: u64, i: string)
        output relation Total(r: string, i: string, n: signed<64>)
        output relation Idle(p: string, r: string)
        output relation Loss(r: string)
        In(r, o, i) :- Order(o, p, i, n), Person(p, r), n > 200.
        Total(r, i, s) :- Order(o, p, i, n), Person(p, r), var s = n.group_by((r, i)).sum().
        Idle(p, r) :- Person(p, r), not Order(_, p, _, _).
        Loss(r) :- Person(_, r), not Gain(r).
        relation Gain(r: string)
        Gain(r) :- Total(r, _, s), s > 1000.
        """,
        {"Order": (some_order, 0.8), "Person": (some_person, 0.2)},
        {
            "In": 'SELECT DISTINCT r, o, i FROM "Order" JOIN Person USING (p) WHERE n > 200',
            "Total": 'SELECT r, i, sum(n)::BIGINT AS s FROM "Order" JOIN Person USING (p) GROUP BY r, i',
            "Idle": 'SELECT p, r FROM Person WHERE p NOT IN (SELECT p FROM "Order")',
            "Loss": "SELECT DISTINCT r FROM Person WHERE r NOT IN (SELECT r FROM Total WHERE s > 1000)",
        },
    )


def _edges(rng: Generator, nodes: int, shape: str, type: Any) -> Draw:
    """Return what draws edges of a graph: anywhere, near by, from few nodes, or within small groups."""

    def draw(count: int) -> pa.Table:
        a = rng.integers(0, nodes, count)
        match shape:
            case "near":
                b = np.clip(a + rng.integers(-6, 7, count), 0, nodes - 1)
            case "hubs":
                a = (nodes * rng.random(count) ** 8).astype(np.int64)
                b = rng.integers(0, nodes, count)
            case "groups":
                b = a - a % 6 + rng.integers(0, 6, count)
            case _:
                b = rng.integers(0, nodes, count)
        return pa.table({"a": _nodes(a, type), "b": _nodes(b, type)})

    return draw


def _nodes(numbers: Any, type: Any) -> Any:
    if type == pa.string():
        return pa.array([f"n{n}" for n in numbers.tolist()])
    spread = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) if type == pa.uint64() else numbers
    return pa.array(spread).cast(type)


TYPES = {"u32": pa.uint32(), "u64": pa.uint64(), "string": pa.string()}


def _few(draw: Draw, column: str, most: int) -> Draw:
    return lambda count: draw(min(count, most)).select([column])


def reach(rng: Generator, rows: int) -> Sized:
    """What a few nodes reach, round blocked ones; mutual recursion over two relations of edges."""
    name, shape = str(rng.choice(list(TYPES))), str(rng.choice(["anywhere", "hubs", "anywhere"]))
    draw = _edges(rng, max(10, rows // int(rng.choice([1, 2, 4]))), shape, TYPES[name])
    return Sized(
        f"""
        input relation Edge(a: {name}, b: {name})
        input relation Back(a: {name}, b: {name})
        input relation Source(a: {name})
        input relation Blocked(a: {name})
        output relation Reach(a: {name}, b: {name})
        output relation Even(a: {name})
        output relation Odd(a: {name})
        output relation Far(a: {name}, n: u64)
        output relation Unreached(a: {name})
        Reach(a, b) :- Source(a), Edge(a, b), not Blocked(b).
        Reach(a, c) :- Reach(a, b), Edge(b, c), not Blocked(c).
        Even(a) :- Source(a).
        Odd(b) :- Even(a), Edge(a, b).
        Even(b) :- Odd(a), Back(a, b).
        Far(a, n) :- Reach(a, b), var n = b.group_by(a).count().
        Unreached(a) :- Edge(a, _), not Reach(_, a).
        """,
        {
            "Edge": (draw, 0.7),
            "Back": (draw, 0.3),
            "Source": (_few(draw, "a", 3), 1e-5),
            "Blocked": (_few(draw, "a", rows), 0.01),
        },
        {
            "Reach": """WITH RECURSIVE r(a, b) AS (
                SELECT a, b FROM Edge JOIN Source USING (a) WHERE b NOT IN (FROM Blocked)
                UNION SELECT r.a, e.b FROM r JOIN Edge e ON r.b = e.a WHERE e.b NOT IN (FROM Blocked)) FROM r""",
            "EvenOdd": """WITH RECURSIVE r(odd, a) AS (SELECT 0, a FROM Source
                UNION SELECT 1 - odd, e.b FROM r JOIN (SELECT 0 AS from_odd, * FROM Edge
                    UNION ALL SELECT 1, * FROM Back) e ON r.a = e.a AND r.odd = e.from_odd) FROM r""",
            "Even": "SELECT a FROM EvenOdd WHERE odd = 0",
            "Odd": "SELECT a FROM EvenOdd WHERE odd = 1",
            "Far": "SELECT a, count(*)::UBIGINT FROM Reach GROUP BY a",
            "Unreached": "SELECT DISTINCT a FROM Edge WHERE a NOT IN (SELECT b FROM Reach)",
        },
    )


def closure(rng: Generator, rows: int) -> Sized:
    """The closure of a sparse graph of many components, and what reads it."""
    name, shape = str(rng.choice(list(TYPES))), str(rng.choice(["near", "groups"]))
    draw = _edges(rng, max(10, int(rows * float(rng.choice([1.2, 2.0, 4.0])))), shape, TYPES[name])
    form = str(rng.choice(["Path(a, b), Edge(b, c)", "Edge(a, b), Path(b, c)", "Path(a, b), Path(b, c)"]))
    return Sized(
        f"""
        input relation Edge(a: {name}, b: {name})
        input relation Marked(a: {name})
        output relation Path(a: {name}, b: {name})
        output relation Cycle(a: {name})
        output relation Open(a: {name}, b: {name})
        Path(a, b) :- Edge(a, b).
        Path(a, c) :- {form}.
        Cycle(a) :- Path(a, a).
        Open(a, b) :- Path(a, b), Marked(a), not Edge(a, b).
        """,
        {"Edge": (draw, 0.9), "Marked": (_few(draw, "a", rows), 0.1)},
        {
            "Path": """WITH RECURSIVE r(a, b) AS (FROM Edge
                UNION SELECT r.a, e.b FROM r JOIN Edge e ON r.b = e.a) FROM r""",
            "Cycle": "SELECT a FROM Path WHERE a = b",
            "Open": "SELECT a, b FROM Path JOIN Marked USING (a) EXCEPT FROM Edge",
        },
    )


FAMILIES: tuple[Callable[[Generator, int], Sized], ...] = (documents, orders, reach, closure)
