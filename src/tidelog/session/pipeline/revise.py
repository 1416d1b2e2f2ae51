"""From a program in force to an edited one: which rules to add and which to remove.

Declarations do not change in a living database, so an edit that touches anything but rules of the main file asks for a
new one (None).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidelog.base.diagnostic import Report
from tidelog.base.extern import Externs
from tidelog.base.record import record
from tidelog.base.span import ADDED, Source
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import ImperativeRule, RuleDef
from tidelog.session.database import Database
from tidelog.session.program.rules import Rule, RuleBase


@record
class Revision:
    """Rules to remove and rules to add, as texts."""

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.removed or self.added)


def revise(
    database: Database, old: str, new: Source, library: Sequence[Path], externs: Externs | None
) -> Revision | None:
    """Return how the rules change; None if more than rules does. Raise `ProgramError` if the new text is wrong.

    >>> old = "relation R(x: u8)  R(1).  R(2)."
    >>> revise(Database(old), old, Source("<program>", "relation R(x: u8)  R(2).  R(3)."), (), None)
    Revision(removed=('R(1).',), added=('R(3).',))
    """
    base = RuleBase.load(new, tuple(library), externs)
    assert base.plan is not None, "a program that cannot be stratified is refused here"
    if _declarations(Source(new.name, old)) != _declarations(new):
        return None
    before = {(rule.text, rule.name): rule for rule in database.rules() if rule.active}
    after = {(rule.text, rule.name): rule for rule in base.rules()}
    removed = [rule for identity, rule in before.items() if identity not in after]
    added = [rule for identity, rule in after.items() if identity not in before]
    if any(not rule.origin.startswith((f"{new.name}:", ADDED)) for rule in (*removed, *added)):
        return None  # a rule of another module
    return Revision(tuple(rule.name or rule.text for rule in removed), tuple(map(_text, added)))


def _declarations(source: Source) -> list[object]:
    module = parse(source, Report())
    return [one for one in module.declarations if not isinstance(one, RuleDef | ImperativeRule)]


def _text(rule: Rule) -> str:
    return f'#[name = "{rule.name}"]\n{rule.text}' if rule.name else rule.text
