"""The rules of a living database: those of the program's text, rules added to them, and rules taken away.

A `RuleBase` is immutable, so a transaction changes rules by making another one and a rollback forgets it. A rule is
known by where it stands, which all rules made from it by rewriting share (`Origin`); to the user, by its name or its
canonical text. Added rules are checked against the declarations of the program, which do not change; nothing else is
looked at again. Planning waits until somebody asks for the plan, so that rules which are stratified only together may
be changed one by one in a transaction.

Like facts, rules form a set: adding one that is in force, or back one that was removed, leaves it in force once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from tidelog.base.diagnostic import Diagnostic, Report, did_you_mean
from tidelog.base.errors import ProgramError, UserError
from tidelog.base.extern import Externs
from tidelog.base.record import record
from tidelog.base.span import ADDED, Source
from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.lang.parse.parse import parse, parse_rules
from tidelog.lang.syntax import Declaration, ImperativeRule, Import, Prefix, RuleDef, StringLiteral
from tidelog.logic import program as logic
from tidelog.logic.passes import Analysis, analyse_openly
from tidelog.logic.program import Origin, Program
from tidelog.plan.demand.choose_demanded import Extent
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.session.program.standing import Standing
from tidelog.session.program.timed import Timed, timed

Place = tuple[str, int]
"""Where a rule stands: the name of its source, and the offset in it."""
Identity = tuple[str, str | None]
"""A rule's canonical text and its name."""


@record
class Rule:
    """A rule of a database: its canonical text, its name if any, where it was written, whether it is in force."""

    text: str
    name: str | None
    origin: str
    active: bool


@record
class Removed:
    """What a rule of the text was made into, kept so that it can come back."""

    origin: Origin
    rules: tuple[logic.Rule, ...]
    auxiliaries: Mapping[str, logic.Relation]
    program: Program
    """The program that it was in: its functions and types are there when it comes back, whatever was declared since."""


@dataclass(frozen=True)
class RuleBase:
    """A program with its changes; `program` has the rules in force, `removed` those of its text that are not."""

    analysis: Analysis
    program: Program
    warnings: tuple[Diagnostic, ...] = ()
    removed: Mapping[Place, Removed] = field(default_factory=dict)
    texts: int = 0
    """How many texts were added in the database's life, so that each has its own name."""
    earlier: Plan | None = None
    """The plan of the rules before, of which planning keeps what still holds."""
    planning: Planning = DEFAULT.planning
    extent: Extent = "declared"
    """Of which relations only what is asked for is computed."""
    goals: Mapping[Hashable, Standing] = field(default_factory=dict)
    """The goals that are watched, or were lately."""
    watched: int = 0
    """How many goals were watched in the database's life, so that each has its own name."""

    @classmethod
    def load(
        cls,
        source: Source,
        library: tuple[Path, ...] = (),
        externs: Externs | None = None,
        planning: Planning = DEFAULT.planning,
        extent: Extent = "declared",
        dialect: str = "tidelog",
    ) -> RuleBase:
        """Return the rules of a program text; raise `ProgramError` with all its mistakes."""
        report = Report()
        analysis = analyse_openly(source, report, library=library, externs=externs, dialect=dialect)
        if analysis is None:
            raise ProgramError(report.errors)
        return cls(analysis, analysis.program, tuple(report.warnings), planning=planning, extent=extent)

    @cached_property
    def whole(self) -> Program:
        """The program with the goals that stay."""
        program = self.program
        for goal in self.goals.values():
            program = goal.added_to(program)
        return program

    def with_goals(self, goals: Mapping[Hashable, Standing]) -> RuleBase:
        """Return the base with other goals that stay."""
        return replace(self, goals=goals, watched=self.watched + 1, earlier=self.latest_plan)

    @cached_property
    def plan(self) -> Plan:
        """How to compute the rules in force."""
        report = Report()
        plan = plan_program(self.whole, report, earlier=self.earlier, planning=self.planning, extent=self.extent)
        if plan is None:
            raise ProgramError(report.errors)
        return plan

    @cached_property
    def timed(self) -> Timed:
        """The relations that change with each commit."""
        return timed(self.plan.relations)

    @property
    def latest_plan(self) -> Plan | None:
        """The plan if it was made, else the one before."""
        return self.__dict__.get("plan", self.earlier)

    @cached_property
    def origins(self) -> dict[Place, Origin]:
        """Every rule of the text that is in force, once, in order."""
        return {_place(rule.origin): rule.origin for rule in self.program.rules}

    def rules(self) -> list[Rule]:
        """Return the rules in force, and after them those removed from the program."""
        return [_rule(origin, active=True) for origin in self.origins.values()] + [
            _rule(removed.origin, active=False) for removed in self.removed.values()
        ]

    def add(self, text: str) -> RuleBase:
        """Return the base with more rules; raise `ProgramError` if they do not fit the program."""
        source = Source(f"{ADDED}{self.texts + 1}>", text)
        given = {(source.name, rule.span.start): rule for rule in _parse(source)}
        in_force = {_identity(origin) for origin in self._alike(given.values()).values()}
        names = {origin.name for origin in self.origins.values()} - {None}
        taken_away = {_identity(r.origin): p for p, r in self.removed.items() if r.origin.name not in names}
        base, known = self, set()
        for place, rule in given.items():
            identity = (_canonical(rule), _name(rule))
            if identity in in_force:
                known.add(place)
            elif identity in taken_away:
                known.add(place)
                base = base.brought_back(taken_away[identity])
        if len(known) == len(given):
            return base
        report = Report()
        program = self.analysis.with_rules(base.program, source, report, known)
        if program is None:
            raise ProgramError(report.errors)
        return replace(base, program=program, texts=self.texts + 1, earlier=self.latest_plan)

    def declare(self, text: str) -> RuleBase:
        """Return the base with declarations and rules; raise `ProgramError` if they do not fit the program."""
        source, report = Source(f"{ADDED}{self.texts + 1}>", text), Report()
        given = parse(source, report).declarations
        if report.errors:
            raise ProgramError(report.errors)
        if all(isinstance(one, RuleDef | ImperativeRule) for one in given):
            return self.add(text)
        if any(isinstance(one, Import | Prefix) for one in given):
            raise UserError("imports and prefixes belong to the program's text: they cannot be added later")
        in_force = {_identity(origin) for origin in self.origins.values()}
        new = [
            one
            for one in given
            if not isinstance(one, RuleDef | ImperativeRule) or (_canonical(one), _name(one)) not in in_force
        ]
        return self._redeclared(new, (), report, self.texts + 1)

    def undeclare(self, name: str, watched: Iterable[str]) -> RuleBase:
        """Return the base without what has a name; raise `UserError` with what uses it. `watched` are open goals."""
        kind = self.analysis.declares()[name]
        report = Report()
        analysis = self.analysis.with_declarations(self.program, (), (name,), report)
        using = self.analysis.users(self.program, [mistake.span for mistake in report.errors])
        using += [
            f"the goal `{text}`, which is watched" for text in watched if re.search(rf"\b{re.escape(name)}\b", text)
        ]
        if using or analysis is None:
            raise UserError(
                f"the {kind} `{name}` is in use by {', '.join(using) or 'something else'}: remove that first"
            )
        base = self._redeclared((), (name,), Report(), self.texts)
        words = [name, *(self.analysis.constructors(name) if kind == "type" else ())]
        named = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b")
        kept = {place: rule for place, rule in self.removed.items() if not named.search(rule.origin.text)}
        return replace(base, removed=kept)

    def _redeclared(self, more: Sequence[Declaration], gone: Collection[str], report: Report, texts: int) -> RuleBase:
        analysis = self.analysis.with_declarations(self.program, more, gone, report)
        if analysis is None:
            raise ProgramError(report.errors)
        return replace(self, analysis=analysis, program=analysis.program, texts=texts, earlier=self.latest_plan)

    def brought_back(self, place: Place) -> RuleBase:
        """Return the base with a removed rule in force again."""
        if place not in self.removed:  # it was given twice
            return self
        back = self.removed[place]
        relations = {**self.program.relations, **back.auxiliaries}
        rules = (*self.program.rules, *back.rules)
        functions = {**back.program.functions, **self.program.functions}
        types = {**back.program.types, **self.program.types}
        program = replace(self.program, types=types, relations=relations, functions=functions, rules=rules)
        removed = {other: rule for other, rule in self.removed.items() if other != place}
        return replace(self, program=program, removed=removed, earlier=self.latest_plan)

    def remove(self, rule: str) -> RuleBase:
        """Return the base without the rules of a name, or without those of a text."""
        named = {place for place, origin in self.origins.items() if origin.name == rule.strip()}
        if named:
            return self._without(named)
        given = _parse(Source("<rule>", rule), quiet=True)
        places: dict[str, set[Place]] = {}
        for place, origin in self._alike(given).items():
            places.setdefault(canonical(origin.text), set()).add(place)
        for text in map(_canonical, given):
            if text not in places:
                raise self._unknown(text)
        if not given:
            raise self._unknown(rule.strip())
        return self._without({place for text in map(_canonical, given) for place in places[text]})

    def _unknown(self, rule: str) -> UserError:
        known = [word for origin in self.origins.values() for word in (origin.name, canonical(origin.text)) if word]
        hint = did_you_mean(rule, known)
        return UserError(f"no rule in force has the name or text `{rule}`" + (f"; {hint}" if hint else ""))

    def _without(self, gone: set[Place]) -> RuleBase:
        removed = dict(self.removed)
        relations = dict(self.program.relations)
        rules = tuple(rule for rule in self.program.rules if _place(rule.origin) not in gone)
        heads = {rule.head for rule in rules}
        for place in gone:
            parts = tuple(rule for rule in self.program.rules if _place(rule.origin) == place)
            made = {rule.head: relations[rule.head] for rule in parts if rule.head in relations}
            auxiliaries = {name: relation for name, relation in made.items() if relation.auxiliary}
            if not place[0].startswith(ADDED):
                removed[place] = Removed(self.origins[place], parts, auxiliaries, self.program)
            relations = {name: r for name, r in relations.items() if name in heads or name not in auxiliaries}
        program = replace(self.program, relations=relations, rules=rules)
        return replace(self, program=program, removed=removed, earlier=self.latest_plan)

    def _alike(self, rules: Iterable[RuleDef | ImperativeRule]) -> dict[Place, Origin]:
        """Return the rules in force that could be equal to a given one: canonical texts of all would take long."""
        heads: set[str] = set()
        for rule in rules:
            if isinstance(rule, ImperativeRule):
                return self.origins
            heads.update(head.atom.relation[-1] for head in rule.heads)
        rules_in_force = (
            rule for rule in self.program.rules if rule.head.rpartition("::")[2].partition("#")[0] in heads
        )
        return {_place(rule.origin): rule.origin for rule in rules_in_force}


def _place(origin: Origin) -> Place:
    return origin.span.source.name, origin.span.start


def _rule(origin: Origin, *, active: bool) -> Rule:
    return Rule(canonical(origin.text), origin.name, str(origin.span), active)


def _parse(source: Source, *, quiet: bool = False) -> tuple[RuleDef | ImperativeRule, ...]:
    report = Report()
    rules = parse_rules(source, report)
    if report.errors and not quiet:
        raise ProgramError(report.errors)
    return () if report.errors else tuple(rules)


@lru_cache(maxsize=1 << 14)
def canonical(text: str) -> str:
    """Return a rule's text in the canonical layout; texts of equal rules become equal."""
    rules = _parse(Source("<rule>", text), quiet=True)
    return "\n".join(map(_canonical, rules)) or text


def _canonical(rule: RuleDef | ImperativeRule) -> str:
    from tidelog.lang.format.format import format_rule  # noqa: PLC0415  (few programs change their rules)

    return format_rule(replace(rule, attributes=())).strip()


def _identity(origin: Origin) -> Identity:
    return canonical(origin.text), origin.name


def _name(rule: RuleDef | ImperativeRule) -> str | None:
    value = next((attribute.value for attribute in rule.attributes if attribute.name == "name"), None)
    return "".join(map(str, value.parts)) if isinstance(value, StringLiteral) else None
