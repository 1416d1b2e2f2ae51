"""Prefixed names are IRIs in a module, in rules added to it and in goals; elsewhere a colon goes before a type."""

from __future__ import annotations

import pytest

import tidelog
from tidelog.base.errors import ProgramError, UserError
from tidelog.base.span import Source
from tidelog.base.text.terms import iri
from tidelog.session.program.static import format_source

PROGRAM = """
import rdf
prefix x: <http://x/>
typedef small = u8
input relation T(s: rdf::Term, p: rdf::Term, n: u8)
output relation Out(s: rdf::Term, n: u8)
function known(t: rdf::Term): bool = t == x:known
Out(s, n) :- T(s, x:age, n), s != <http://x/hidden>, var m = n:u8, m > (1:small), not known(s), var t:string = "",
    x:string != <http://x/float>.
"""
AGE = iri("http://x/age")


def test_in_rules_goals_and_functions() -> None:
    rows = [(iri(f"http://x/{name}"), AGE, 7) for name in ("a", "hidden", "known")]
    db = tidelog.Database(PROGRAM, facts={"T": rows})
    assert db["Out"].rows() == [(iri("http://x/a"), 7)]
    assert db.query("T(x:known, x:age, n)").rows() == [(7,)]
    with db.transaction() as tx:
        tx.add_rules("Out(x:new, n) :- T(x:known, _, n).")
    assert (iri("http://x/new"), 7) in db["Out"].rows()
    with db.transaction() as tx:
        tx.remove_rules("Out(x:new, n)   :- T(x:known, _, n).")
    assert len(db["Out"].rows()) == 1
    with pytest.raises(ProgramError, match="E0206"):
        db.query("T(y:known, _, n)")
    with pytest.raises(ProgramError, match="E0206"), db.transaction() as tx:
        tx.add_rules("Out(y:new, 1).")


def formatted(text: str) -> str:
    return format_source(Source("a.dl", text))


def test_the_layout_keeps_them() -> None:
    once = formatted(PROGRAM)
    assert formatted(once) == once
    assert all(part in once for part in ("T(s, x:age, n)", "s != <http://x/hidden>", "var m = n: u8", "x:string"))
    assert formatted('R(rdf::Iri{"http://a"}), R(rdf::Iri{"a b"}).') == 'R(<http://a>), R(rdf::Iri{"a b"}).\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("prefix x <http://x/>", "E0110"),
        ("prefix x: http", "E0110"),
        ("relation R(t: u8)\nR(<http://a>).", "E0"),
        ("import rdf\nrelation R(t: rdf::Term)\nR(x:a).", "E0"),
    ],
)
def test_mistakes(text: str, code: str) -> None:
    with pytest.raises(UserError, match=code):
        tidelog.Database(text)
