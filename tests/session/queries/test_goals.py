"""Goals, on every engine: what they answer, how their parameters and mistakes are checked, what they leave behind."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.session.graph import GRAPH, Open, edges
from tidelog import Answers, Database, DataError, LimitError, Limits, ProgramError, UserError
from tidelog.plan.passes import plan_program
from tidelog.session.queries import goal as goals

PROGRAM = """
typedef Kind = Host | Port{number: bit<16>}
input relation Link(a: string, b: string, port: bit<16>)
input relation Blocked(port: bit<16>)
input relation Thing(name: string, kind: Kind, tags: Vec<string>)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b, p), not Blocked(p).
Reach(a, c) :- Reach(a, b), Link(b, c, p), not Blocked(p).
"""
FACTS: dict[str, Any] = {
    "Link": [("laptop", "web", 443), ("web", "app", 8080), ("app", "db", 5432), ("phone", "web", 443)],
    "Blocked": [(5432,)],
    "Thing": [("web", "Host", ["a", "b"]), ("db", {"tag": "Port", "number": 5432}, [])],
}
GOALS = [
    ('Reach("laptop", x)', ["x"], [("app",), ("web",)]),
    ('Reach("laptop", x), Link(x, _, p), not Blocked(p)', ["x", "p"], [("web", 8080)]),
    ('Reach("laptop", "app")', [], [()]),
    ('Reach("laptop", "db")', [], []),
    ("Link(a, b, 443)", ["a", "b"], [("laptop", "web"), ("phone", "web")]),
    ("Link(_, b, 443)", ["b"], [("web",)]),
    ("Link(.port = p)", ["p"], [(443,), (5432,), (8080,)]),
    ("Reach(x, x)", ["x"], []),
    ("Link(a, _b, p), p > 5000,", ["a", "p"], [("app", 5432), ("web", 8080)]),
    ("Link(a, _, p), var n = a.group_by(p).count().", ["p", "n"], [(443, 2), (5432, 1), (8080, 1)]),
    ("Link(_, b, _), var n = b.group_by(()).count_distinct()", ["n"], [(3,)]),
    ('(Link("web", x, _); Link(x, "web", _))', ["x"], [("app",), ("laptop",), ("phone",)]),
    ('Reach(a, b), var both = a ++ "-" ++ b, a < b', ["a", "b", "both"],
     [("laptop", "web", "laptop-web"), ("phone", "web", "phone-web")]),
    ("Thing(name, Port{n}, _)", ["name", "n"], [("db", 5432)]),
    ("Thing(x, _, tags), var t = FlatMap(tags)", ["x", "tags", "t"],
     [("web", ("a", "b"), "a"), ("web", ("a", "b"), "b")]),
    ("var x = 1 + 1", ["x"], [(2,)]),
    ("Reach(a, b), false", ["a", "b"], []),
    ("false", [], []),
    ('(Reach("laptop", x); Link(x, _, _), 1 == 2)', ["x"], [("app",), ("web",)]),
    ("Link(a, _, p), var n = a.group_by(p).count(), false", ["p", "n"], []),
    ("t in Thing(), t.tags.len() > 0, var x = t.name", ["t", "x"], None),
]  # fmt: skip


@pytest.fixture
def network(opened: Open) -> Database:
    return opened(PROGRAM, facts=FACTS)


@pytest.mark.parametrize(("goal", "columns", "rows"), GOALS)
def test_answers(network: Database, goal: str, columns: list[str], rows: list[Any] | None) -> None:
    for _ in range(2):
        answers = network.query(goal)
        assert list(answers.columns) == columns
        assert rows is None or answers.rows() == rows
        assert len(answers) == (len(rows) if rows is not None else 1)
    network.verify()


@pytest.mark.parametrize(
    ("goal", "parameters", "rows"),
    [
        ("Reach($from, x)", {"from": "laptop"}, [("app",), ("web",)]),
        ("Reach($from, x)", {"from": '"), Reach(x, _'}, []),
        ("Reach($from, $from)", {"from": "laptop"}, []),
        ("Link(x, _, p), p > $min", {"min": 443}, [("app", 5432), ("web", 8080)]),
        ("Link(x, _, p), var n = x.group_by(p).count(), n >= $least", {"least": 2}, [(443, 2)]),
        ("Link(x, _, p), p != $not, var n = p.group_by(()).count()", {"not": 443}, [(2,)]),
        ('Link(x, _, _), var y = "${x}${($n: bit<8>)}"', {"n": 7}, None),
        ("Link(x, _, _), not Link(x, _, $p)", {"p": 443}, [("app",), ("web",)]),
        ("Reach($from, x), false", {"from": "laptop"}, []),
        ("Thing(x, $kind, _)", {"kind": {"tag": "Port", "number": 5432}}, [("db",)]),
        ("Thing(x, _, $tags)", {"tags": ["a", "b"]}, [("web",)]),
        ("(Link($a, x, _); Link(x, $b, _))", {"a": "web", "b": "web"}, [("app",), ("laptop",), ("phone",)]),
        ("Link(x, y, _), var z = FlatMap([$p, x])", {"p": y} if (y := "q") else {}, None),
    ],
)
def test_parameters(network: Database, goal: str, parameters: dict[str, Any], rows: list[Any] | None) -> None:
    answers = network.query(goal, parameters)
    assert len(answers) if rows is None else answers.rows() == rows


@pytest.mark.parametrize(
    ("goal", "parameters", "error", "message"),
    [
        ("Rech(x, y)", {}, ProgramError, "did you mean `Reach`"),
        ("Reach(x)", {}, ProgramError, "E0405"),
        ("Reach(x, y", {}, ProgramError, "never closed"),
        ("Reach(x, y) Link(x, y, _)", {}, ProgramError, "expected `,` or the end of the goal"),
        ("Reach(x, y) :- Link(x, y, _)", {}, ProgramError, "expected `,` or the end of the goal"),
        ("", {}, ProgramError, "expected"),
        ("not Reach(x, _)", {}, ProgramError, "only in a negated atom"),
        ("Reach(x, y), z > 3", {}, ProgramError, "`z` is not bound"),
        ("(Link(x, _, _); Blocked(x))", {}, ProgramError, "same type in all alternatives"),
        ("Reach(x, _), $p == $p", {"p": 1}, ProgramError, "cannot tell the type of `\\$p`"),
        ("Reach($from, x)", {}, DataError, "parameter `\\$from`, for which no value is given"),
        ("Reach($from, x)", {"$from": "a"}, DataError, "given as `from`, without `\\$`"),
        ("Reach($, x)", {}, ProgramError, "a name that begins with a letter: `\\$from`"),
        ("Reach(x, y); Link(x, y, _)", {}, ProgramError, "alternatives stand in parentheses"),
        ("Reach(x, y)?", {}, ProgramError, "only in the shell a goal ends in"),
        ("Reach(X, _)", {}, ProgramError, "begin with a small letter or `_`, as `x`"),
        ("Reach($from, x)", {"from": 5}, DataError, "parameter `from`: expected string, found 5"),
        ("Blocked($p)", {"p": 1 << 16}, DataError, "parameter `p`: expected bit<16>"),
        ("Blocked($port)", {"port": 1, "prot": 2}, UserError, "no parameter `\\$prot`; did you mean `port`"),
    ],
)
def test_mistakes(
    network: Database, goal: str, parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        network.query(goal, parameters)
    assert network.query('Reach("laptop", x)').rows() == [("app",), ("web",)]


def test_parameters_are_of_goals_only() -> None:
    with pytest.raises(ProgramError, match=r"unexpected character `\$`"):
        Database("relation R(x: u8)  R($x).")


def test_parameters_of_types_that_the_program_does_not_use(opened: Open) -> None:
    db = opened("import time  input relation R(x: u8)", facts={"R": [(1,), (2,)]})
    goals = [
        ("R(x), Some{x} == $it", 1, [(1,)]),
        ("R(x), ($it: Vec<Option<u8>>).contains(Some{x})", [None, 2], [(2,)]),
        ("R(x), var y = ($it: Date).year", {"year": 2024, "month": 2, "day": 29}, [(1, 2024), (2, 2024)]),
    ]
    for goal, value, rows in goals:
        for _ in range(2):
            assert db.query(goal, {"it": value}).rows() == rows
        with db.watch(goal, {"it": value}) as view, db.watch(goal, {"it": value}) as other:
            assert view.rows() == other.rows() == rows
    db.verify()


def test_arguments(db: Database) -> None:
    with pytest.raises(TypeError, match="goal: expected a goal as text, found 5"):
        db.query(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="parameters: expected values by the name of a parameter"):
        db.query("Edge(x, y)", [1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="limits: expected"):
        db.query("Edge(x, y)", limits=5)  # type: ignore[arg-type]


def test_a_goal_sees_the_last_commit(db: Database) -> None:
    def reached() -> list[Any]:
        return db.query("Edge(x, y), Reach(y, z), x != z").rows()

    assert reached() == []
    edges(db, (1, 2), (2, 3))
    assert reached() == [(1, 2, 3)]
    with db.transaction() as tx:
        tx.remove_rules("step")
        assert reached() == [(1, 2, 3)]
    assert reached() == []
    with db.transaction() as tx:
        tx.add_rules("Reach(b, a) :- Edge(a, b), a > 1.")
    assert reached() == [(2, 3, 3)]
    assert db.query("Reach(x, y)").rows() == [(3, 2), (3, 3)]


def test_a_goal_in_a_transaction_sees_what_the_commit_would_give(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.insert("Edge", [(2, 3)])
        assert tx.query("Reach(1, x)").rows() == [(2,), (3,)]
        assert tx.query("Reach($a, x)", {"a": 2}).rows() == [(3,)]
        tx.add_rules("Reach(x, x) :- Edge(x, _).")
        foreseen = tx.query("Reach(x, y), x <= y").rows()
        tx.delete("Edge", [(1, 2)])
        assert tx.query("Reach(x, y)").rows() == [(2, 2), (2, 3)]
        tx.insert("Edge", [(1, 2)])
        with pytest.raises(ProgramError):
            tx.query("Reach(x)")
        assert db.query("Reach(x, y)").rows() == [(1, 2)]
    assert db.query("Reach(x, y), x <= y").rows() == foreseen
    with pytest.raises(UserError, match="not open"):
        tx.query("Reach(x, y)")
    db.verify()


def test_goals_change_nothing(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    before = db.commit_number, str(db.plan), db.rules(), [view.name for view in db.relations()]
    heard: list[Any] = []
    db.subscribe("Reach", heard.append)
    db.query("Reach(x, y), var n = x.group_by(y).count(), n > 0")
    assert (db.commit_number, str(db.plan), db.rules(), [view.name for view in db.relations()]) == before
    assert not heard
    changes = edges(db, (3, 4)).changes
    assert set(changes) == {"Edge", "Reach"}
    db.verify()


def test_limits(opened: Open) -> None:
    db = opened(limits=Limits(tuples=50))
    edges(db, *((n, n + 1) for n in range(5)))
    goal = "Edge(a, _), Edge(b, _), Edge(c, _)"
    with pytest.raises(LimitError):
        db.query(goal)
    assert len(db.query(goal, limits=Limits())) == 125
    with pytest.raises(LimitError):
        db.query(goal, limits=Limits(tuples=10))
    db.verify()


def test_what_fails_is_told(opened: Open) -> None:
    db = opened()
    edges(db, (0, 2))
    with pytest.raises(Exception, match="division by zero"):
        db.query("Edge(x, y), var z = y / x")
    assert db.query("Edge(x, y), var z = x / y").rows() == [(0, 2, 0)]


def test_goals_stay_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals, "KEPT", 2)
    planned: list[str] = []
    made: Callable[..., Any] = goals.Goals._made

    def noted(self: Any, text: str, given: Any) -> Any:
        planned.append(text)
        return made(self, text, given)

    monkeypatch.setattr(goals.Goals, "_made", noted)
    db = Database(GRAPH, facts={"Edge": [(1, 2)]})
    for goal in ("Edge(x, 2)", "Edge(1, x)", "Edge(x, 2)", "Edge(x, y)", "Edge(x, 2)"):
        db.query(goal)
    assert planned == ["Edge(x, 2)", "Edge(1, x)", "Edge(x, y)", "Edge(x, 2)"]
    edges(db, (2, 3))
    db.query("Edge(x, 2)")
    assert len(planned) == 4
    assert [db.query("Owner($n, x)", {"n": 1}).rows(), db.query("Edge(x, 2)").rows()] == [[], [(1,)]]
    with pytest.raises(DataError):  # true is not 1
        db.query("Owner($n, x)", {"n": True})


def test_goals_are_planned_once_for_all_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    plan = plan_program

    def noted(*given: Any, **options: Any) -> Any:
        planned.append("")
        return plan(*given, **options)

    monkeypatch.setattr(goals, "plan_program", noted)
    db = Database(GRAPH, facts={"Edge": [(n, n + 1) for n in range(9)]}, demand=True)
    for goal in ("Reach($from, x), not Edge($from, x)", "Edge($from, x)", "Edge($from, $from)"):
        wanted = [db.query(goal.replace("$from", str(n))).rows() for n in range(4)]
        planned.clear()
        assert [db.query(goal, {"from": n}).rows() for n in range(4)] == wanted
        assert len(planned) == 1
    assert [db["Reach"].where(a=n).rows()[-1] for n in range(3)] == [(0, 9), (1, 9), (2, 9)]
    assert len(planned) == 2
    assert [len(db.query(f"Edge(x, y), x >= {least}")) for least in (3, 8)] == [6, 1]
    with pytest.raises(DataError, match="parameter `from`: expected bit<32>"):
        db.query("Edge($from, x)", {"from": "a"})
    with pytest.raises(DataError, match="for which no value is given"):
        db.query("Edge($from, x)")
    with pytest.raises(UserError, match="no parameter `\\$form`; did you mean `from`"):
        db.query("Edge($from, x)", {"from": 1, "form": 1})


# --- answers ---------------------------------------------------------------------------------------------------------


def test_frames() -> None:
    answers = Database(PROGRAM, facts=FACTS).query("Link(a, _, port)")
    assert answers.to_arrow().sort_by("a").to_pydict()["port"] == [5432, 443, 443, 8080]
    assert sorted(answers.to_pandas()["a"]) == ["app", "laptop", "phone", "web"]
    assert sorted(answers.to_polars()["a"]) == ["app", "laptop", "phone", "web"]
    assert answers.columns == {"a": "string", "port": "bit<16>"}
    assert repr(answers) == "<Answers (a: string, port: bit<16>) with 4 rows>"


def test_answers_are_rows() -> None:
    answers = Database(PROGRAM, facts=FACTS).query("Link(a, _, port)")
    assert list(answers) == answers.rows()
    assert answers.first() == ("app", 5432)
    assert answers.head(2).rows() == [("app", 5432), ("laptop", 443)]
    assert ("web", 8080) in answers
    assert ("web", 1) not in answers
    assert isinstance(answers.head(1), Answers)
    assert Database(PROGRAM).query("Link(a, _, port)").first() is None


def test_html() -> None:
    db = Database("input relation R(t: string, n: u32)", facts={"R": [("<b>", n) for n in range(30)]})
    html = db.query("R(t, n)")._repr_html_()
    assert "30 rows (the first 20 of them)</caption>" in html
    assert "pre-wrap'>&lt;b&gt;</td><td>0</td>" in html
    assert "<td>20</td>" not in html
    assert ">1 row</caption>" in db["R"].where(n=7)._repr_html_()
    assert [db.query(f'R("<b>", {n})')._repr_html_() for n in (7, 70)] == ["<b>true</b>", "<b>false</b>"]


@pytest.mark.parametrize(
    ("types", "rows", "kind"),
    [
        (["bit<8>", "bit<8>"], [(1, 2), (3, 4)], "u1"),
        (["bit<32>", "signed<16>"], [(1, -2)], "i8"),
        (["double", "float"], [(0.5, 1.5)], "f8"),
        (["double", "bit<32>"], [(0.5, 7)], "f8"),
        (["double", "bit<64>"], [(0.5, 2**64 - 1)], "O"),
        (["bit<64>", "signed<64>"], [(2**64 - 1, -1)], "O"),
        (["bit<65>", "bool"], [(2**64, True)], "O"),
        (["bool", "bool"], [(True, False)], "b1"),
        (["bool", "bit<8>"], [(True, 2)], "O"),
        (["string", "bit<8>"], [("a", 2)], "O"),
    ],
)
def test_numpy(types: list[str], rows: list[Any], kind: str) -> None:
    columns = ", ".join(f"c{i}: {type}" for i, type in enumerate(types))
    found = Database(f"input relation R({columns})", facts={"R": rows})["R"].to_numpy()
    assert (found.dtype.str.lstrip("<|"), found.shape) == (kind, (len(rows), len(types)))
    assert [tuple(row) for row in found.tolist()] == rows


def test_numpy_of_nothing() -> None:
    db = Database("input relation R(x: double)  input relation Go()", facts={"R": [(math.inf,)], "Go": [()]})
    assert db["R"].to_numpy().tolist() == [[math.inf]]
    assert db["Go"].to_numpy().shape == (1, 0)
    assert db.query("R(x), x < 0.0").to_numpy().shape == (0, 1)


def test_a_goal_that_is_nested_too_deeply_is_told(db: Database) -> None:
    with pytest.raises(ProgramError, match="E0107"):
        db.query("Edge(x, y), " + "(" * 3000 + "x > 0" + ")" * 3000)
