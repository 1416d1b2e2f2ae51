"""Ryzhyk and Budiu, "Differential Datalog": the programs of figures 3 to 6, and the changes that transactions make.

Of figure 3 the paper's text is its caption and what section 2.2 says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

import pytest

from tidelog import Database, EngineName, Externs, StrategyName, Variant
from tidelog.session.database import plan_of

ROADS = [("reference", "auto"), *(("columnar", strategy) for strategy in ("auto", "elastic", "dred", "recompute"))]


class Road(TypedDict):
    engine: EngineName
    strategy: StrategyName


Rows = Iterable[tuple[object, ...]]
Changed = dict[str, dict[tuple[object, ...], int]]


@pytest.fixture(params=ROADS, ids="-".join)
def road(request: pytest.FixtureRequest) -> Road:
    """An engine and a strategy."""
    engine, strategy = request.param
    return {"engine": engine, "strategy": strategy}


def commit(database: Database, inserted: Mapping[str, Rows] = {}, deleted: Mapping[str, Rows] = {}) -> Changed:
    """Change facts; return the changes of output relations with their weights."""
    with database.transaction() as tx:
        for relation, rows in deleted.items():
            tx.delete(relation, rows)
        for relation, rows in inserted.items():
            tx.insert(relation, rows)
    database.verify()
    outputs = [name for name, relation in plan_of(database).relations.items() if relation.role == "output"]
    return {name: dict(tx.result.changes[name]) for name in outputs if tx.result.changes[name]}


# --- figure 3: relations, joins, antijoins and unions -----------------------------------------------------------------

PATHS = """
typedef Node = bit<32>
input relation Edge(from: Node, to: Node) primary key (e) (e.from, e.to)
input relation Exclude(node: Node)
output relation Path(from: Node, to: Node)

// The union of two rules; the second joins, and leaves some nodes out.
Path(x, y) :- Edge(x, y), not Exclude(x), not Exclude(y).
Path(x, z) :- Path(x, y), Edge(y, z), not Exclude(z).
"""


def test_figure_3_paths_that_exclude_some_nodes(road: Road) -> None:
    database = Database(PATHS, **road)
    assert commit(database, {"Edge": [(1, 2), (2, 3), (3, 1), (3, 4)]}) == {
        "Path": dict.fromkeys([(x, y) for x in (1, 2, 3) for y in (1, 2, 3, 4)], 1)
    }
    assert commit(database, {"Exclude": [(2,)]}) == {
        "Path": {
            **dict.fromkeys([(2, y) for y in (1, 2, 3, 4)], -1),
            **dict.fromkeys([(1, y) for y in (1, 2, 3, 4)], -1),
            **dict.fromkeys([(3, y) for y in (2, 3)], -1),
        }
    }
    assert commit(database, {"Edge": [(1, 3)]}, {"Exclude": [(2,)]}) == {
        "Path": dict.fromkeys([*((x, y) for x in (1, 2) for y in (1, 2, 3, 4)), (3, 2), (3, 3)], 1)
    }
    assert database.relation("Path").count() == 12
    assert commit(database, {"Edge": [(1, 3)]}, {"Exclude": [(7,)]}) == {}


def test_figure_3_a_primary_key_deletes(road: Road) -> None:
    database = Database(PATHS, **road)
    commit(database, {"Edge": [(1, 2), (2, 3)]})
    with database.transaction() as tx:
        tx.delete_keys("Edge", [(1, 2)])
    assert dict(tx.result.changes["Path"]) == {(1, 2): -1, (1, 3): -1}


# --- figure 4: computations in rules, and the imperative syntax -------------------------------------------------------

AREAS = """
input relation Height(object_id: bigint, height: bigint)
input relation Width(object_id: bigint, width: bigint)
output relation Area(object_id: bigint, area: bigint)
"""
RULE = "Area(oid, area) :- Height(oid, h), Width(oid, w), var area = w * h."
LOOP = """
for (o in Height)
    for (o1 in Width if o1.object_id == o.object_id)
        Area(o.object_id, o1.width * o.height)
"""


@pytest.mark.parametrize("rule", [RULE, LOOP], ids=["rule", "imperative"])
def test_figure_4_areas(road: Road, rule: str) -> None:
    database = Database(AREAS + rule, **road)
    large = 10**30
    assert commit(database, {"Height": [(1, 2), (2, 5), (3, 1)], "Width": [(1, 3), (2, large)]}) == {
        "Area": {(1, 6): 1, (2, 5 * large): 1}
    }
    assert commit(database, {"Width": [(3, 4), (1, 9)]}, {"Width": [(2, large)]}) == {
        "Area": {(3, 4): 1, (1, 18): 1, (2, 5 * large): -1}
    }
    # The area 18 gets a second derivation, 9 * 2, and keeps it when 2 * 9 goes.
    assert commit(database, {"Height": [(1, 9)], "Width": [(1, 2)]}) == {"Area": {(1, 81): 1, (1, 27): 1, (1, 4): 1}}
    assert commit(database, {}, {"Height": [(1, 2)]}) == {"Area": {(1, 6): -1, (1, 4): -1}}


# --- figure 5: pattern matching, on the types of figure 2 -------------------------------------------------------------

HOSTS = """
typedef IPAddress = IPv4Address{ipv4addr: bit<32>} | IPv6Address{ipv6addr: bit<128>}
typedef OptionalIPAddress = Option<IPAddress>

function lastByte(a: OptionalIPAddress): bit<8> = {
    match (a) {
        None -> 0,
        Some{IPv4Address{.ipv4addr = addr}} -> addr[7:0],
        Some{IPv6Address{.ipv6addr = addr}} -> addr[7:0]
    }
}

input relation Host(address: OptionalIPAddress)
output relation IPv6Addr(addr: bit<128>)
output relation LastByte(byte: bit<8>)
IPv6Addr(addr) :- Host(.address = Some{IPv6Address{addr}}).
LastByte(lastByte(a)) :- Host(a).
"""
NO_ADDRESS = Variant("std::None", 0, ())


def v4(address: int) -> tuple[Variant]:
    return (Variant("std::Some", 1, (Variant("IPv4Address", 0, (address,)),)),)


def v6(address: int) -> tuple[Variant]:
    return (Variant("std::Some", 1, (Variant("IPv6Address", 1, (address,)),)),)


def test_figure_5_pattern_matching_in_a_function_and_in_a_rule(road: Road) -> None:
    database = Database(HOSTS, **road)
    assert commit(database, {"Host": [(NO_ADDRESS,), v4(0x0A0000FE), v6((1 << 127) + 0x12FE)]}) == {
        "IPv6Addr": {((1 << 127) + 0x12FE,): 1},
        "LastByte": {(0,): 1, (0xFE,): 1},
    }
    assert commit(database, {"Host": [v6(7)]}, {"Host": [v4(0x0A0000FE)]}) == {
        "IPv6Addr": {(7,): 1},
        "LastByte": {(7,): 1},
    }
    assert commit(database, {}, {"Host": [v6((1 << 127) + 0x12FE), (NO_ADDRESS,)]}) == {
        "IPv6Addr": {((1 << 127) + 0x12FE,): -1},
        "LastByte": {(0,): -1, (0xFE,): -1},
    }


# --- figure 6: collections: iteration, flattening, aggregation --------------------------------------------------------

PHRASES = """
extern function split_phrase(s: string, sep: string): Vec<string>

function concat(s: Vec<string>, sep: string): string = {
    var res = "";
    for (e in s) {
        res = (if (res != "") (res ++ sep) else res) ++ e
    };
    res
}

input relation Phrases(p: string)
output relation Words(w: string)
output relation Joined(p: string)
Words(w) :- Phrases(p), var w = FlatMap(split_phrase(p, " ")).
Joined(concat(split_phrase(p, " "), "-")) :- Phrases(p).
"""


def externs() -> Externs:
    table = Externs()

    @table.register("split_phrase", "function(string, string): Vec<string>")
    def split_phrase(s: str, sep: str) -> tuple[str, ...]:
        return tuple(s.split(sep))

    return table


def test_figure_6_words_of_phrases(road: Road) -> None:
    database = Database(PHRASES, **road, externs=externs())
    assert commit(database, {"Phrases": [("to be",), ("or not to be",)]}) == {
        "Words": dict.fromkeys([("to",), ("be",), ("or",), ("not",)], 1),
        "Joined": {("to-be",): 1, ("or-not-to-be",): 1},
    }
    assert commit(database, {}, {"Phrases": [("to be",)]}) == {"Joined": {("to-be",): -1}}
    assert commit(database, {"Phrases": [("be",)]}, {"Phrases": [("or not to be",)]}) == {
        "Words": {("to",): -1, ("or",): -1, ("not",): -1},
        "Joined": {("be",): 1, ("or-not-to-be",): -1},
    }


SHORTEST = """
input relation Road(x: string, y: string, cost: bit<32>)
relation Path(x: string, y: string, cost: bit<32>)
output relation ShortestPath(x: string, y: string, cost: bit<32>)
Path(x, y, c) :- Road(x, y, c).
Path(x, z, c + d) :- Path(x, y, c), Road(y, z, d), c + d < 20.
// (x, y) is the key for grouping; min is the function used to aggregate data in each group.
ShortestPath(x, y, min_cost) :- Path(x, y, cost), var min_cost = Aggregate((x, y), min(cost)).
"""


def test_figure_6_shortest_paths(road: Road) -> None:
    database = Database(SHORTEST, **road)
    assert commit(database, {"Road": [("a", "b", 5), ("b", "c", 5), ("a", "c", 12)]}) == {
        "ShortestPath": {("a", "b", 5): 1, ("b", "c", 5): 1, ("a", "c", 10): 1}
    }
    assert commit(database, {}, {"Road": [("b", "c", 5)]}) == {
        "ShortestPath": {("b", "c", 5): -1, ("a", "c", 10): -1, ("a", "c", 12): 1}
    }
    assert commit(database, {"Road": [("b", "c", 5), ("b", "b", 1)]}) == {
        "ShortestPath": {("b", "c", 5): 1, ("b", "b", 1): 1, ("a", "c", 12): -1, ("a", "c", 10): 1}
    }
    assert commit(database, {}, {"Road": [("a", "c", 12)]}) == {}
