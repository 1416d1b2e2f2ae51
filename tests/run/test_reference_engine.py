"""The reference engine on plans made by hand: fixpoints, negation, groups, changes, limits, failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.generate.pipeline import plan_text
from tidelog.base import expr as e
from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.types import BIGINT, BOOL, GROUP, Bit, Field, Named, Type
from tidelog.base.values import Group
from tidelog.plan import nodes as p
from tidelog.run.contract.engine import Delta, Limits
from tidelog.run.reference.engine import ReferenceEngine

NUMBER = Bit(32)
X, Y, Z = (e.Var(name, NUMBER) for name in "xyz")


def scan(relation: str, *terms: e.Var | e.Const | None, occurrence: int = 0) -> p.Scan:
    columns = tuple(dict.fromkeys(t for t in terms if isinstance(t, e.Var)))
    return p.Scan(relation, terms, p.Version.ALL, occurrence, columns)


def join(left: p.Node, right: p.Scan) -> p.Node:
    keys = tuple(v for v in left.columns if v in right.columns)
    columns = (*left.columns, *(v for v in right.columns if v not in left.columns))
    return p.Join(left, right, keys, columns) if keys else p.Product(left, right, columns)


def rule(head: str, arguments: Sequence[e.Expr], body: p.Node, reads: tuple[str, ...], text: str = "") -> p.Rule:
    project = p.Project(body, head, tuple(arguments))
    flags = (False,) * len(reads)
    full = p.Variant(None, False, project)
    return p.Rule(text or head, head, project, full, (), reads, flags, flags, p.Origin(text or f"{head} :- ...", None))


def plan(arities: dict[str, int], *strata: tuple[bool, Sequence[p.Rule]], type: Type = NUMBER) -> p.Plan:
    relations = {
        name: p.Relation(name, "internal", tuple(Field(f"c{i}", type) for i in range(arity)), Named(name))
        for name, arity in arities.items()
    }
    numbered = tuple(
        p.Stratum(i, tuple(dict.fromkeys(r.head for r in rules)), recursive, tuple(rules))
        for i, (recursive, rules) in enumerate(strata)
    )
    return p.Plan({}, relations, {}, numbered, (), {})


PATHS = plan(
    {"Edge": 2, "Path": 2, "Unreachable": 2},
    (
        True,
        [
            rule("Path", (X, Y), scan("Edge", X, Y), ("Edge",)),
            rule("Path", (X, Z), join(scan("Path", X, Y), scan("Edge", Y, Z, occurrence=1)), ("Path", "Edge")),
        ],
    ),
    (
        False,
        [
            rule(
                "Unreachable",
                (X, Z),
                p.AntiJoin(
                    p.Product(scan("Edge", X, None), scan("Edge", None, Z, occurrence=1), (X, Z)),
                    scan("Path", X, Z, occurrence=2),
                    (X, Z),
                    (X, Z),
                ),
                ("Edge", "Edge", "Path"),
            )
        ],
    ),
)


def insert(engine: ReferenceEngine, relation: str, *rows: tuple[Any, ...], **options: Any) -> dict[str, Delta]:
    return dict(engine.update({relation: Delta(rows)}, **options).changes)


def test_recursion_and_negation() -> None:
    engine = ReferenceEngine(PATHS)
    insert(engine, "Edge", (1, 2), (2, 3), (4, 4))
    assert engine.rows("Path") == {(1, 2), (2, 3), (1, 3), (4, 4)}
    assert engine.rows("Unreachable") == {(1, 4), (2, 2), (2, 4), (4, 2), (4, 3)}
    assert engine.count("Path") == 4
    assert engine.contains("Path", (1, 3))
    assert not engine.contains("Path", (3, 1))


def test_an_update_returns_the_exact_change() -> None:
    engine = ReferenceEngine(PATHS)
    insert(engine, "Edge", (1, 2), (2, 3))
    changes = engine.update({"Edge": Delta([(3, 1), (1, 2)], [(2, 3), (9, 9)])}).changes
    assert set(changes) == {"Edge", "Path", "Unreachable"}
    assert changes["Edge"] == Delta(frozenset({(3, 1)}), frozenset({(2, 3)}))
    assert changes["Path"] == Delta(frozenset({(3, 1), (3, 2)}), frozenset({(2, 3), (1, 3)}))
    assert insert(engine, "Edge", (1, 2)) == {}


def test_rules_change_and_facts_stay() -> None:
    engine = ReferenceEngine(PATHS)
    insert(engine, "Edge", (1, 2), (2, 3))
    shorter = plan({"Edge": 2, "Path": 2}, (False, [rule("Path", (X, Y), scan("Edge", X, Y), ("Edge",))]))
    changes = engine.update({}, shorter).changes
    assert changes["Path"] == Delta(frozenset(), frozenset({(1, 3)}))
    assert changes["Unreachable"].inserted == frozenset()
    assert engine.rows("Edge") == {(1, 2), (2, 3)}


def test_restore_undoes_an_update() -> None:
    engine = ReferenceEngine(PATHS)
    insert(engine, "Edge", (1, 2))
    token = engine.snapshot()
    insert(engine, "Edge", (2, 3))
    engine.restore(token)
    assert engine.rows("Path") == {(1, 2)}
    assert insert(engine, "Edge", (5, 5)).keys() == {"Edge", "Path", "Unreachable"}


def test_scans_select_by_constants_and_repeated_variables() -> None:
    loops = rule("Loop", (X,), scan("Edge", X, X), ("Edge",))
    ones = rule("One", (X,), scan("Edge", e.Const(1, NUMBER), X), ("Edge",))
    engine = ReferenceEngine(plan({"Edge": 2, "Loop": 1, "One": 1}, (False, [loops]), (False, [ones])))
    insert(engine, "Edge", (1, 2), (2, 2), (1, 1))
    assert engine.rows("Loop") == {(2,), (1,)}
    assert engine.rows("One") == {(2,), (1,)}


def test_nullary_relations_and_facts() -> None:
    fact = rule("Yes", (), p.Unit(), ())
    no = rule("No", (), p.AntiJoin(p.Unit(), scan("Yes"), (), ()), ("Yes",))
    engine = ReferenceEngine(plan({"Yes": 0, "No": 0}, (False, [fact]), (False, [no])))
    assert engine.rows("Yes") == {()}
    assert engine.rows("No") == frozenset()


def test_groups_count_derivations() -> None:
    group = e.Var("g", Named(GROUP, (NUMBER, NUMBER)))
    both = e.Call("both", (group,), NUMBER)
    node = p.Aggregate(scan("Edge", X, Y, None), (X,), Y, group, both, Z, (X, Z))
    seen: list[Group] = []

    def record(g: Group) -> int:
        seen.append(g)
        return 10 * len(g.members) + sum(weight for _, weight in g.members)

    program = plan({"Edge": 3, "Out": 2}, (False, [rule("Out", (X, Z), node, ("Edge",))]))
    function = e.Function("both", (e.Parameter("g", group.type),), NUMBER, None, record)
    engine = ReferenceEngine(p.Plan({}, program.relations, {"both": function}, program.strata, (), {}))
    insert(engine, "Edge", (1, 5, 0), (1, 5, 1), (1, 6, 0), (2, 7, 0))
    assert engine.rows("Out") == {(1, 23), (2, 11)}
    assert Group(1, {5: 2, 6: 1}) in seen


def counting(type: Type) -> p.Plan:
    """`N(x + 1) :- N(x)`: never ends, except by wrapping."""
    x = e.Var("x", type)
    following = e.Operate("+", (x, e.Const(1, type)), type)
    text = "N(x + 1) :- N(x)."
    return plan({"N": 1}, (True, [rule("N", (following,), scan("N", x), ("N",), text)]), type=type)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(rounds=10), "more than 10 rounds"),
        (Limits(tuples=50), "more than 50 new tuples"),
        (Limits(seconds=0.2), "more than 0.2 seconds"),
        (Limits(memory=1000), "more than 1000 bytes of memory"),
    ],
)
def test_limits_stop_and_leave_the_last_commit(limits: Limits, message: str) -> None:
    engine = ReferenceEngine(counting(BIGINT))
    with pytest.raises(LimitError, match=message) as caught:
        insert(engine, "N", (0,), limits=limits)
    assert "stratum 0 (N)" in str(caught.value)
    assert engine.count("N") == 0


def test_wrapping_ends_a_recursion() -> None:
    engine = ReferenceEngine(counting(Bit(6)))
    insert(engine, "N", (5,), limits=Limits(rounds=100))
    assert engine.count("N") == 64


def test_a_failure_names_the_rule_and_the_bindings() -> None:
    text = "Ratio(x / y) :- Edge(x, y), y < 9."
    body = p.Select(scan("Edge", X, Y), e.Operate("<", (Y, e.Const(9, NUMBER)), BOOL), (X, Y))
    ratio = rule("Ratio", (e.Operate("/", (X, Y), NUMBER),), body, ("Edge",), text)
    engine = ReferenceEngine(plan({"Edge": 2, "Ratio": 1}, (False, [ratio])))
    with pytest.raises(EvaluationError) as caught:
        insert(engine, "Edge", (4, 2), (7, 0))
    assert "7 / 0: division by zero, with x = 7, y = 0" in str(caught.value)
    assert text in str(caught.value)
    assert engine.count("Edge") == 0


def test_work_is_reported() -> None:
    engine = ReferenceEngine(PATHS)
    work = engine.update({"Edge": Delta([(1, 2), (2, 3), (3, 4)])}).work
    assert [(w.stratum, w.relations, w.rounds) for w in work] == [(0, ("Path",), 4), (1, ("Unreachable",), 1)]


def test_values_nested_too_deeply_are_refused() -> None:
    longer = "l"
    for _ in range(40):
        longer = f"Cons{{n, ref_new({longer})}}"
    text = f"""
typedef List = Nil | Cons{{head: u32, tail: Ref<List>}}
relation P(n: u32, l: List)
P(0, Nil).
P(n + 1, {longer}) :- P(n, l), n < 100.
"""
    with pytest.raises(EvaluationError, match="a value is nested too deeply\n  in the rule `P"):
        ReferenceEngine(plan_text(text))
