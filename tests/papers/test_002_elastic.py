"""Zhao et al., "Towards Elastic Incrementalization for Datalog": the running example through sections 3.1 to 3.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random

import pytest

from tests.generate.pipeline import plan_text
from tests.papers.elastic import Fact, Facts, State, bootstrap, bootstraps, epochs, iterations, parse, tuples, update
from tests.run.support import support
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.tuples.engine import TuplesEngine

DECLARATIONS = """
input relation New(v: string, o: string)
input relation Assign(v: string, w: string)
input relation Load(v: string, y: string, f: string)
input relation Store(p: string, f: string, q: string)
output relation Vpt(v: string, o: string)
output relation Alias(v: string, w: string)
"""
VPT = """
Vpt(v, o) :- New(v, o).
Vpt(v, o) :- Assign(v, w), Vpt(w, o).
Vpt(v, o) :- Load(v, y, f), Store(p, f, q), Vpt(q, o), Vpt(p, a), Vpt(y, a).
"""
ALIAS = "Alias(v, w) :- Vpt(v, o), Vpt(w, o)."
EDB: Facts = frozenset(
    {
        ("New", ("a", "L1")),
        ("New", ("c", "L3")),
        ("New", ("d", "L4")),
        ("Assign", ("b", "a")),
        ("Assign", ("a", "b")),
        ("Store", ("c", "f", "a")),
        ("Load", ("e", "d", "f")),
        ("Load", ("b", "c", "f")),
    }
)
"""Figure 3b."""


def vpt(text: str) -> Counter[Fact]:
    """Read a multiset: `a L1 1, b L1 2` has a pointing to L1 once, and b twice."""
    entries = [entry.split() for entry in text.split(",") if entry.strip()]
    return Counter({("Vpt", (v, o)): int(count) for v, o, count in entries})


Engine = ColumnarEngine | TuplesEngine
MAKE: Mapping[str, Callable[..., Engine]] = {
    "columnar": ColumnarEngine,
    "tuples": TuplesEngine,
}


def engine_on(declarations: str, rules: str, facts: Facts, how: str = "columnar") -> Engine:
    engine = MAKE[how](plan_text(declarations + rules), strategy="elastic")
    change(engine, frozenset(), facts)
    return engine


def change(engine: Engine, deleted: Facts, inserted: Facts) -> None:
    names = {name for name, _ in deleted | inserted}
    engine.update(
        {
            name: Delta([row for n, row in inserted if n == name], [row for n, row in deleted if n == name])
            for name in names
        }
    )
    assert not engine.verify()


def derived(engine: Engine) -> dict[Fact, tuple[int, ...]]:
    """The first iteration and the count of every derived tuple."""
    heads = {rule.head for stratum in engine.plan.strata for rule in stratum.rules}
    return {(name, row): kept for name in heads for row, kept in support(engine, name).items()}


def all_iterations(states: list[State]) -> dict[Fact, tuple[int, ...]]:
    return {fact: kept for state in states for fact, kept in iterations(state).items()}


# --- 2.2 and 3.1: Bootstrap -------------------------------------------------------------------------------------------


def test_2_2_semi_naive_evaluation() -> None:
    engine = engine_on(DECLARATIONS, VPT + ALIAS, EDB)
    assert set(engine.rows("Vpt")) == {("a", "L1"), ("c", "L3"), ("d", "L4"), ("b", "L1")}
    assert set(engine.rows("Alias")) == {(v, v) for v in "abcd"} | {("a", "b"), ("b", "a")}


def test_3_1_bootstrap_counts_in_the_first_iteration() -> None:
    expected = (Counter(EDB), vpt("a L1 1, c L3 1, d L4 1"), vpt("b L1 2"))
    assert bootstrap(parse(VPT), EDB) == expected
    assert derived(engine_on(DECLARATIONS, VPT, EDB)) == all_iterations([expected])


# --- 3.2: Update ------------------------------------------------------------------------------------------------------

DELETED: Facts = frozenset({("Assign", ("b", "a"))})
INSERTED: Facts = frozenset({("Store", ("d", "f", "c"))})


def test_3_2_update() -> None:
    done = update(parse(VPT), bootstrap(parse(VPT), EDB), DELETED, INSERTED)
    assert [iteration.counts for iteration in done] == [
        Counter((EDB - DELETED) | INSERTED),
        vpt("a L1 1, c L3 1, d L4 1"),
        vpt("b L1 1, e L3 1"),
    ]
    assert done[2].missing == DELETED
    assert done[2].ahead == INSERTED | {("Vpt", ("e", "L3"))}


@pytest.mark.parametrize("how", MAKE)
def test_3_2_update_by_the_engine(how: str) -> None:
    engine = engine_on(DECLARATIONS, VPT + ALIAS, EDB, how)
    before = engine.snapshot()
    changed = engine.update({"Assign": Delta((), [("b", "a")]), "Store": Delta([("d", "f", "c")], ())})
    assert set(changed.changes["Vpt"].inserted) == {("e", "L3")}
    assert not changed.changes["Vpt"].deleted
    assert support(engine, "Vpt") == {
        ("a", "L1"): (1, 1),
        ("c", "L3"): (1, 1),
        ("d", "L4"): (1, 1),
        ("b", "L1"): (2, 1),
        ("e", "L3"): (2, 1),
    }
    engine.restore(before)
    assert support(engine, "Vpt")["b", "L1"] == (2, 2)


def test_2_3_a_large_impact() -> None:
    """Removing L6 and L1 takes half of vpt and everything but the reflexive pairs of c and d from alias."""
    engine = engine_on(DECLARATIONS, VPT + ALIAS, EDB)
    change(engine, frozenset({("Load", ("e", "d", "f")), ("New", ("a", "L1"))}), frozenset())
    assert set(engine.rows("Vpt")) == {("c", "L3"), ("d", "L4")}
    assert set(engine.rows("Alias")) == {("c", "c"), ("d", "d")}


PATHS = "input relation Edge(a: bit<8>, b: bit<8>)\noutput relation Path(a: bit<8>, b: bit<8>)\n"
LINEAR = "Path(x, y) :- Edge(x, y). Path(x, z) :- Path(x, y), Edge(y, z)."


def edges(text: str) -> Facts:
    """`12 23`: edges 1 to 2 and 2 to 3."""
    return frozenset(("Edge", (int(pair[0]), int(pair[1]))) for pair in text.split())


@pytest.mark.parametrize(
    ("facts", "deleted", "inserted", "was", "becomes"),
    [
        pytest.param("12 24 13 34", "24", "", (2, 2), (2, 1), id="deletion: a count in the first iteration falls"),
        pytest.param("12 24 13", "", "34", (2, 1), (2, 2), id="insertion: a count in the first iteration rises"),
        pytest.param("14 12 23 34", "14", "", (1, 1), (3, 1), id="re-discovery: a later iteration becomes the first"),
        pytest.param("12 23 34", "", "14", (3, 1), (1, 1), id="sparsification: an earlier iteration becomes the first"),
        pytest.param("14 12 24 34", "14", "13", (1, 1), (2, 2), id="re-discovery and insertion in one iteration"),
    ],
)
def test_3_2_each_term(facts: str, deleted: str, inserted: str, was: tuple[int, int], becomes: tuple[int, int]) -> None:
    engine = engine_on(PATHS, LINEAR, edges(facts))
    assert support(engine, "Path")[1, 4] == was
    change(engine, edges(deleted), edges(inserted))
    assert support(engine, "Path")[1, 4] == becomes
    done = update(parse(LINEAR), bootstrap(parse(LINEAR), edges(facts)), edges(deleted), edges(inserted))
    assert derived(engine) == iterations(tuple(iteration.counts for iteration in done))


# --- 3.3: negation and constraints ------------------------------------------------------------------------------------

INDIRECT = "Path(x, y) :- Edge(x, y). Path(x, z) :- Edge(x, y), Path(y, z), not Direct(x, z)."
DIRECT = "input relation Direct(a: bit<8>, b: bit<8>)\n"


def test_3_3_constraints() -> None:
    engine = engine_on(DECLARATIONS, VPT + "Alias(v, w) :- Vpt(v, o), Vpt(w, o), v != w.", EDB)
    assert set(engine.rows("Alias")) == {("a", "b"), ("b", "a")}


def test_3_3_an_inserted_tuple_under_a_negation_takes_derivations_away() -> None:
    engine = engine_on(DIRECT + PATHS, INDIRECT, edges("12 23 34"))
    assert support(engine, "Path")[1, 3] == (2, 1)
    change(engine, frozenset(), frozenset({("Direct", (1, 3))}))
    assert (1, 3) not in set(engine.rows("Path"))
    assert support(engine, "Path")[1, 4] == (3, 1)
    change(engine, frozenset({("Direct", (1, 3))}), frozenset())
    assert support(engine, "Path")[1, 3] == (2, 1)


def test_3_3_re_discovery_reads_negated_tuples_absent_from_both_epochs() -> None:
    """The paper's term would read them from the intersection, and find path(1, 3) though Direct(1, 3) came."""
    engine = engine_on(DIRECT + PATHS, INDIRECT, edges("13 12 23"))
    change(engine, edges("13"), frozenset({("Direct", (1, 3))}))
    assert (1, 3) not in set(engine.rows("Path"))


# --- Theorem 3.5 ------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "linear": (PATHS, [LINEAR]),
    "non-linear": (PATHS, ["Path(x, y) :- Edge(x, y). Path(x, z) :- Path(x, y), Path(y, z)."]),
    "negation": (
        DIRECT + PATHS,
        [INDIRECT + "Path(x, z) :- Path(x, y), Path(y, z), x < z, not Direct(y, z)."],
    ),
    "mutual": (
        PATHS + "output relation Odd(a: bit<8>, b: bit<8>)\noutput relation Lone(a: bit<8>, b: bit<8>)\n",
        [
            "Odd(x, y) :- Edge(x, y). Odd(x, z) :- Path(x, y), Edge(y, z). Path(x, z) :- Odd(x, y), Odd(y, z), x != z.",
            "Lone(x, y) :- Edge(x, y), not Path(x, y). Lone(x, z) :- Lone(x, y), Lone(y, z), not Path(x, z).",
        ],
    ),
}


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize("how", MAKE)
@pytest.mark.parametrize("name", PROGRAMS)
def test_theorem_3_5(name: str, how: str) -> None:
    """Update leaves what Bootstrap leaves on the new facts, tuple by tuple: to the letter, and in the engine."""
    declarations, strata = PROGRAMS[name]
    for seed in range(6):
        random = Random(seed)
        facts = random_facts(random, 12, name)
        engine, states = engine_on(declarations, "".join(strata), facts, how), bootstraps(strata, facts)
        for _ in range(6):
            deleted = frozenset(random.sample(sorted(facts), min(len(facts), random.randrange(4))))
            inserted = random_facts(random, random.randrange(4), name) - facts
            states = epochs(strata, states, deleted, inserted)
            facts = (facts - deleted) | inserted
            assert states == bootstraps(strata, facts)
            change(engine, deleted, inserted)
            assert derived(engine) == all_iterations(states)
        assert tuples(states[-1]) >= facts


def random_facts(random: Random, count: int, name: str) -> Facts:
    relations = ("Edge", "Edge", "Direct") if name == "negation" else ("Edge",)
    return frozenset((random.choice(relations), (random.randrange(7), random.randrange(7))) for _ in range(count))
