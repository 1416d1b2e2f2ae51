"""What rules may say about time: streams, whose rows last one commit, and relations as they were some commits ago.

    input stream Parcel(zip: u32)       rows of one transaction
    Sent(z) :- Parcel(z), Open(z).      a stream, as it reads one
    Total(z) :- Parcel'(z).             a relation: `'` says that it is meant to change with each transaction
    Fallen(s) :- Sum(s, n), Sum-1(s, m), n < m.

What a rule derives from a stream lasts no longer than that, so its head is a stream, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tidelog.base.diagnostic import Report
from tidelog.lang import syntax
from tidelog.lang.syntax import Atom, Clause, RuleDef
from tidelog.logic.names.environment import Environment
from tidelog.logic.program import Relation

MOST_COMMITS = 100
"""How far back a rule may look: all that lies between is kept."""


def is_in_time(atom: Atom, relation: Relation, report: Report) -> bool:
    """Report an atom that says of a relation what only a stream has, or looks too far back."""
    name = "::".join(atom.relation)
    if atom.differential and relation.kind != "stream":
        note = "`S'` is a relation with the rows that the stream `S` has in the last transaction"
        report.add("E0134", f"`{name}` is no stream", atom.span, note=note, hint=f"leave out the mark: `{name}(...)`")
        return False
    if atom.delay > MOST_COMMITS:
        message = f"`{name}-{atom.delay}` looks more than {MOST_COMMITS} commits back"
        note = "the rows of all commits between are kept"
        report.add("E0133", message, atom.span, note=note, hint="keep the past in a relation with a number of its own")
        return False
    return True


def check_stream(rule: RuleDef, head: Relation, environment: Environment, report: Report) -> None:
    """Report a rule that derives a relation from a stream, or a stream from relations alone."""
    streams = [atom for atom in _atoms(rule.body) if _is_stream(atom, environment, report)]
    name = "::".join(rule.heads[0].atom.relation)
    if head.kind == "stream" and not streams:
        note = "a stream has what one transaction brings: a rule for it reads a stream"
        hint = f"declare `{name}` with `relation`"
        report.add("E0420", f"the stream `{name}` is derived from no stream", rule.heads[0].span, note=note, hint=hint)
    elif head.kind != "stream" and streams:
        other = "::".join(streams[0].relation)
        note = "what is derived from a stream lasts one transaction, as the stream does"
        hint = f"declare `{name}` with `stream`, or read `{other}'`, a relation that changes with each transaction"
        message = f"the relation `{name}` is derived from the stream `{other}`"
        report.add("E0420", message, streams[0].span, note=note, hint=hint)


def uninspected(rule: RuleDef, report: Report) -> RuleDef:
    """Return a rule without what looks at changes, which is warned of: in the dialect `ddlog`."""
    looking = [clause for clause in rule.body if isinstance(clause, syntax.Inspect)]
    if not looking:
        return rule
    note = "rules are pure: how often and when a clause is evaluated is not defined"
    hint = "make the relation an `output relation` and subscribe to its changes"
    for clause in looking:
        report.add("E0132", "`Inspect` has no effect", clause.span, note=note, hint=hint, severity="warning")
    return replace(rule, body=tuple(clause for clause in rule.body if not isinstance(clause, syntax.Inspect)))


def inspects(clauses: Iterable[Clause], report: Report) -> bool:
    """Report clauses that look at changes, which rules do not."""
    found = False
    for clause in clauses:
        if isinstance(clause, syntax.Inspect):
            note = "rules are pure: how often and when a clause is evaluated is not defined"
            hint = "make the relation an `output relation` and subscribe to its changes"
            report.add("E0132", "Tidelog has no `Inspect`", clause.span, note=note, hint=hint)
            found = True
        elif isinstance(clause, syntax.Either):
            found |= sum(inspects(way, report) for way in clause.alternatives) > 0
    return found


def _atoms(clauses: Iterable[Clause]) -> Iterator[Atom]:
    for clause in clauses:
        match clause:
            case syntax.Positive(atom) | syntax.Negative(atom):
                yield atom
            case syntax.Either(alternatives):
                for way in alternatives:
                    yield from _atoms(way)
            case _:
                pass


def _is_stream(atom: Atom, environment: Environment, report: Report) -> bool:
    relation = environment.relation(atom.relation, atom.span, report)
    return relation is not None and relation.kind == "stream" and not atom.differential
