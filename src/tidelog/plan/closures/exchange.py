"""How a recursive stratum is spread over partitions that run to fixpoints of their own and exchange what is new.

A partition may derive whatever follows from the tuples that it has; all answers are found if the tuples of every
derivation meet somewhere. Relations below are everywhere. Of a rule with one recursive atom any partition that has the
atom's tuple will do. Where a rule has several, all of them but one are everywhere, if constants leave few tuples of
each (a *fragment*, as `T(p, 2, c)` of the triples), or they have a variable in common, and tuples are placed by it.

If all rules are of the first kind, what a partition derives from a tuple needs nothing but fragments: a tuple sent to
its owner is complete already (`Spread.free`), and without news of fragments one exchange is the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tidelog.base import types as t
from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.nodes import Project, Rule, Scan, Stratum


@record
class Fragment:
    """The tuples of a relation that have these constants in these columns."""

    relation: str
    constants: tuple[tuple[int, Const], ...]


@record
class Spread:
    """The columns that tuples of each relation are placed by, the first of which says who owns them."""

    columns: Mapping[str, tuple[int, ...]]
    fragments: tuple[Fragment, ...]
    free: bool


@record
class _Meeting:
    """How the tuples of a rule meet: by columns of the atoms kept, or only one is kept; the others are everywhere."""

    kept: tuple[Scan, ...]
    columns: tuple[tuple[str, int], ...]
    fragments: tuple[Fragment, ...]
    size: int


def fragments_of(stratum: Stratum) -> tuple[Fragment, ...]:
    """Return what may have to be everywhere, depending on the number of tuples."""
    atoms = [scan for rule in stratum.rules for scan in _several(recursive_scans(rule, stratum))]
    return tuple(dict.fromkeys(fragment for scan in atoms if (fragment := _fragment(scan)) is not None))


def spread(stratum: Stratum, sizes: Mapping[Fragment, int], most: int) -> Spread | None:
    """Return how to spread a stratum; None if there is no way. Fragments of more than `most` tuples are too large."""
    if not stratum.recursive:
        return None
    columns: dict[str, dict[int, None]] = {name: {} for name in stratum.relations}
    fragments: dict[Fragment, None] = {}
    free, kept = True, list[tuple[Rule, tuple[Scan, ...]]]()
    for rule in stratum.rules:
        atoms = recursive_scans(rule, stratum)
        if not atoms:
            continue
        ways = list(_meetings(atoms, sizes, most))
        if not ways:
            return None
        best = min(ways, key=lambda way: (bool(way.columns), way.size))
        kept.append((rule, best.kept))
        fragments |= dict.fromkeys(best.fragments)
        free = free and not best.columns
        for name, column in best.columns:
            columns[name][column] = None
    placed = {name: tuple(found) or (_copied_most(name, kept),) for name, found in columns.items()}
    return Spread(placed, tuple(fragments), free)


def may_spread(stratum: Stratum) -> bool:
    """Tell whether a stratum can be spread if its fragments are few."""
    return spread(stratum, dict.fromkeys(fragments_of(stratum), 0), 0) is not None


def copied(rule: Rule) -> str | None:
    """Return the relation whose tuples a rule derives again as they are, and does nothing else."""
    match rule.body:
        case Project(Scan(relation, terms, _, _, columns), _, expressions) if terms == columns == expressions:
            return relation
        case _:
            return None


def copied_into(relation: str, strata: Sequence[Stratum]) -> Stratum | None:
    """Return the stratum that can be spread and copies a relation, if nothing else reads that."""
    readers = [(stratum, rule) for stratum in strata for rule in stratum.rules if relation in rule.reads]
    if len(readers) != 1:
        return None
    ((stratum, rule),) = readers
    return stratum if copied(rule) == relation and may_spread(stratum) else None


def _several(atoms: Sequence[Scan]) -> Sequence[Scan]:
    return atoms if len(atoms) > 1 else ()


def _fragment(scan: Scan) -> Fragment | None:
    constants = tuple(
        (number, term)
        for number, term in enumerate(scan.terms)
        if isinstance(term, Const) and isinstance(term.type, t.Bool | t.Bit | t.Signed | t.String)
    )
    return Fragment(scan.relation, constants) if constants else None


def _meetings(atoms: Sequence[Scan], sizes: Mapping[Fragment, int], most: int) -> Iterator[_Meeting]:
    """Yield the ways in which tuples of several atoms can meet."""
    shared = {term.name for atom in atoms for term in atom.terms if isinstance(term, Var)}
    stays = [[atom] for atom in atoms]
    stays += [kept for name in sorted(shared) if len(kept := [a for a in atoms if _column(a, name) is not None]) > 1]
    names = [""] * len(atoms) + [n for n in sorted(shared) if sum(_column(a, n) is not None for a in atoms) > 1]
    for kept, name in zip(stays, names, strict=True):
        others = [_fragment(atom) for atom in atoms if atom not in kept]
        few = [one for one in others if one is not None and sizes.get(one, most + 1) <= most]
        if len(few) == len(others):
            columns = tuple((a.relation, column) for a in kept if (column := _column(a, name)) is not None)
            yield _Meeting(tuple(kept), columns, tuple(few), sum(sizes[one] for one in few))


def _column(scan: Scan, name: str) -> int | None:
    """Return the first column of an atom that has a variable."""
    return next((n for n, term in enumerate(scan.terms) if isinstance(term, Var) and term.name == name), None)


def _copied_most(name: str, rules: Sequence[tuple[Rule, Sequence[Scan]]]) -> int:
    """Return the column of a relation that most rules copy from a tuple of it: what they derive stays where it is."""
    copied: dict[int, int] = {}
    for rule, atoms in rules:
        if rule.head == name:
            own = [atom for atom in atoms if atom.relation == name]
            for number, term in enumerate(rule.body.expressions):
                same = isinstance(term, Var) and any(_column(atom, term.name) == number for atom in own)
                copied[number] = copied.get(number, 0) + same
    return max(copied, key=lambda number: copied[number], default=0)
