"""Rules that come and go, on every engine."""

from pathlib import Path

import pytest

from tests.session.graph import Open, edges
from tidelog import Database, ProgramError, UserError


@pytest.mark.long(reason="random histories")
def test_rules_come_and_go(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    with db.transaction() as tx:
        tx.add_rules('#[name = "sym"] Reach(y, x) :- Reach(x, y).')
        tx.insert("Edge", [(5, 5)])
    assert (2, 1) in db.relation("Reach")
    db.verify()
    with db.transaction() as tx:
        tx.remove_rules("sym")
    assert tx.result.changes["Reach"].deleted == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    db.verify()


def test_rules_are_listed(db: Database) -> None:
    assert [(rule.name, rule.origin, rule.active) for rule in db.rules()] == [
        ("step", "<program>:6:1", True),
        (None, "<program>:7:1", True),
        (None, "<program>:9:1", True),
    ]
    with db.transaction() as tx:
        tx.remove_rules("step")
        tx.add_rules('#[name = "step"] Reach(b, a) :- Edge(a, b).')
    listed = [(rule.text, rule.origin, rule.active) for rule in db.rules() if rule.name == "step"]
    assert listed == [
        ("Reach(b, a) :- Edge(a, b).", "<rules 1>:1:18", True),
        ("Reach(a, b) :- Edge(a, b).", "<program>:6:1", False),
    ]


def test_a_rule_is_removed_by_its_text_in_any_layout(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    with db.transaction() as tx:
        tx.remove_rules("Reach(a,c):-Reach(a,b),\n  Edge(b,c).")
    assert db.relation("Reach").rows() == [(1, 2), (2, 3)]
    with db.transaction() as tx:
        tx.add_rules("Reach(a, c) :- Reach(a, b), Edge(b, c).")
    assert tx.result.changes["Reach"].inserted == [(1, 3)]
    assert all(rule.active for rule in db.rules())


def test_rules_form_a_set(db: Database) -> None:
    before = db.rules()
    with db.transaction() as tx:
        tx.add_rules("Owned(w) :- Owner(_, w).")
    assert db.rules() == before
    with db.transaction() as tx:
        tx.add_rules('Owned(w) :- Owner(_, w). Owned("all").')
    assert [rule.text for rule in db.rules()][3:] == ['Owned("all").']
    with db.transaction() as tx:
        tx.remove_rules('Owned("all").')
    assert db.rules() == before


def test_a_bad_rule_is_refused_and_nothing_has_changed(db: Database) -> None:
    before = db.rules()
    for text in ("Reach(a, b) :- Egde(a, b).", "Reach(a) :- Edge(a, b).", "Reach(a, c) :- Edge(a, b).", "Reach("):
        tx = db.transaction().begin()
        tx.insert("Edge", [(1, 2)])
        with pytest.raises(ProgramError) as caught, tx:
            tx.add_rules(text)
        assert caught.value.diagnostics[0].span.source.name == "<rules 1>"
        assert (db.rules(), db.relation("Edge").count(), db.commit_number) == (before, 0, 0)
    with pytest.raises(ProgramError, match="only rules and facts"), db.transaction() as tx:
        tx.add_rules("relation R(x: u8)")


def test_an_unstratifiable_rule_is_refused_at_the_commit(db: Database) -> None:
    with pytest.raises(ProgramError, match="E0601"), db.transaction() as tx:
        tx.add_rules("Reach(a, b) :- Edge(a, b), not Reach(b, a).")
    assert len(db.rules()) == 3
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.add_rules("Owned(w) :- Owner(_, w), not Reach(1, 1).")
        tx.add_rules("Reach(1, 1) :- Owned(_).")
        tx.remove_rules("Owned(w) :- Owner(_, w), not Reach(1, 1).")
    assert len(db.rules()) == 4


def test_an_unknown_rule(db: Database) -> None:
    with pytest.raises(UserError, match="has the name or text `stepp`; did you mean `step`"), db.transaction() as tx:
        tx.remove_rules("stepp")
    with pytest.raises(UserError, match="no rule in force"), db.transaction() as tx:
        tx.remove_rules('Owned(w) :- Owner(_, w). Owned("nobody").')


def test_a_removed_rule_of_a_module(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "lib.dl").write_text('output relation L(x: u8)\nL(1).\n#[name = "two"] L(2).\n')
    (tmp_path / "main.dl").write_text("import lib\noutput relation M(x: u8)\nM(x) :- L(x).\n")
    db = opened(tmp_path / "main.dl")
    with db.transaction() as tx:
        tx.remove_rules("two")
    assert db.relation("M").rows() == [(1,)]
    with db.transaction() as tx:
        tx.add_rules("M(7).")
    assert db.relation("M").rows() == [(1,), (7,)]
    assert db.relation("lib::L").rows() == [(1,)]


def test_a_head_whose_type_is_decided_late() -> None:
    """The type of a literal in a string is decided at the end; a string of nothing else was said to be unbound."""
    db = Database('output relation R(s: string)\nR("${1}").\nR("${"${2}"}").\n')
    assert db.relation("R").rows() == [("1",), ("2",)]
