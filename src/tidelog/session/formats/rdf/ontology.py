"""An ontology as rules of its own (description logic programs; Grosof and others 2003, equation 6 of paper 000).

What an axiom says becomes rules: a class is a condition on x, a property one on x and y.

    C subClassOf D           D(x) :- C(x).           p domain C          C(x) :- p(x, y).
    C and (some p D) in C    E(x) :- C(x), p(x, y), D(y).
    p subPropertyOf q        q(x, y) :- p(x, y).     p inverseOf q       q(y, x) :- p(x, y).  and back

A class on the left may be a name, an intersection, a union, a value restriction or `some`; on the right a name, an
intersection, a value restriction or `only`. What a rule without new individuals cannot say, as `some` on the right, is
told and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidelog.base.text.terms import RDF, iri
from tidelog.base.values import Variant
from tidelog.session.formats.rdf.graph import Graph

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
NIL = iri(f"{RDF}nil")
BUILT_IN = (OWL, RDFS, XSD, RDF)

Clause = tuple[str, Variant, str | Variant]
"""A class and a variable, or a property and two, of which the second may be a value; of a class it is empty."""
Rule = tuple[Clause, tuple[Clause, ...]]


class _BeyondRulesError(Exception):
    """A class expression that no rule can say on its side."""


@dataclass
class Ontology:
    """The rules of an ontology: heads and bodies; `untold` are the axioms that are no rules, as text."""

    rules: list[Rule] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, graph: Graph) -> None:
        terms = graph.terms
        self.triples = [(terms[s], terms[p], terms[o]) for s, p, o, _ in graph.rows.T.tolist()]
        self._objects: dict[tuple[Variant, str], list[Variant]] = {}
        for s, p, o in self.triples:
            self._objects.setdefault((s, p.fields[0]), []).append(o)
        self._fresh = 0

    def objects(self, subject: Variant, name: str) -> list[Variant]:
        return self._objects.get((subject, name), [])

    def one(self, subject: Variant, name: str) -> Variant | None:
        return next(iter(self.objects(subject, name)), None)

    def members(self, cell: Variant) -> list[Variant]:
        found, seen = [], set[Variant]()
        while cell != NIL and cell not in seen:
            seen.add(cell)
            found += self.objects(cell, f"{RDF}first")
            cell = self.one(cell, f"{RDF}rest") or NIL
        return found

    def variable(self) -> str:
        self._fresh += 1
        return f"y{self._fresh}"

    def bodies(self, kind: Variant, x: str) -> Iterator[tuple[Clause, ...]]:
        """Yield the ways in which x is of a class; raise if a body cannot say that."""
        if kind.position == 0:
            yield () if kind == iri(f"{OWL}Thing") else ((x, kind, ""),)
            return
        prop = self.one(kind, f"{OWL}onProperty")
        some = self.one(kind, f"{OWL}someValuesFrom")
        if prop is not None and prop.position == 0 and some is not None:
            y = self.variable()
            for rest in self.bodies(some, y):
                yield ((x, prop, y), *rest)
        elif prop is not None and prop.position == 0 and (value := self.one(kind, f"{OWL}hasValue")) is not None:
            yield ((x, prop, value),)
        elif lists := self.objects(kind, f"{OWL}intersectionOf"):
            yield from self._all(self.members(lists[0]), x)
        elif lists := self.objects(kind, f"{OWL}unionOf"):
            for member in self.members(lists[0]):
                yield from self.bodies(member, x)
        else:
            raise _BeyondRulesError

    def _all(self, kinds: list[Variant], x: str) -> Iterator[tuple[Clause, ...]]:
        if not kinds:
            yield ()
            return
        for first in self.bodies(kinds[0], x):
            for rest in self._all(kinds[1:], x):
                yield (*first, *rest)

    def heads(self, kind: Variant, x: str) -> Iterator[Rule]:
        """Yield what follows when x is of a class, each with further conditions; raise if no head can say that."""
        if kind.position == 0:
            if kind != iri(f"{OWL}Thing"):
                yield (x, kind, ""), ()
            return
        prop = self.one(kind, f"{OWL}onProperty")
        only, value = self.one(kind, f"{OWL}allValuesFrom"), self.one(kind, f"{OWL}hasValue")
        if prop is not None and only is not None:
            y = self.variable()
            for head, more in self.heads(only, y):
                yield head, ((x, prop, y), *more)
        elif prop is not None and value is not None:
            yield (x, prop, value), ()
        elif lists := self.objects(kind, f"{OWL}intersectionOf"):
            for member in self.members(lists[0]):
                yield from self.heads(member, x)
        else:
            raise _BeyondRulesError


def read_ontology(graph: Graph) -> Ontology:
    """Return the rules of an ontology."""
    reader, made = _Reader(graph), Ontology()
    for s, p, o in reader.triples:
        name = p.fields[0]
        if name == f"{OWL}intersectionOf" and s.position == 0:
            members = reader.members(o)
            _equal(reader, made, s, members, f"{_text(s)} intersectionOf ...")
        elif name == f"{OWL}unionOf" and s.position == 0:
            for member in reader.members(o):
                _below(reader, made, [member], s, f"{_text(s)} unionOf ...")
        elif name in {f"{RDFS}subClassOf", f"{OWL}equivalentClass"}:
            _below(reader, made, [s], o, f"{_text(s)} {_text(p)} {_text(o)}")
            if name.endswith("equivalentClass"):
                _below(reader, made, [o], s, f"{_text(s)} {_text(p)} {_text(o)}")
        else:
            _property(reader, made, s, name, o)
    rules: dict[object, Rule] = {}
    for rule in made.rules:
        rules.setdefault(_canonical(rule), rule)
    made.rules = list(rules.values())
    made.untold = list(dict.fromkeys(made.untold))
    return made


def _canonical(rule: Rule) -> tuple[tuple[object, ...], ...]:
    """Return a rule with its variables named in the order in which they stand."""
    names: dict[str, int] = {}

    def known(term: str | Variant) -> object:
        return names.setdefault(term, len(names)) if isinstance(term, str) and term else term

    return tuple((known(x), name, known(y)) for x, name, y in (rule[0], *rule[1]))


def _equal(reader: _Reader, made: Ontology, name: Variant, parts: list[Variant], text: str) -> None:
    _below(reader, made, parts, name, text)
    for part in parts:
        _below(reader, made, [name], part, text, quiet=part.position != 0)


def _below(
    reader: _Reader, made: Ontology, parts: list[Variant], above: Variant, text: str, *, quiet: bool = False
) -> None:
    """Say that what is of all these classes is of the one above."""
    try:
        heads = list(reader.heads(above, "x"))
        bodies = list(reader._all(parts, "x"))  # noqa: SLF001  (this module's own)
    except _BeyondRulesError:
        if not quiet or above.position:
            made.untold.append(f"{text} (of which rules say one direction)" if quiet else text)
        return
    made.rules += [(head, (*body, *more)) for head, more in heads for body in bodies if body or more]


def _property(reader: _Reader, made: Ontology, s: Variant, name: str, o: Variant) -> None:
    xy: Clause = ("x", s, "y")
    if name in {f"{RDFS}domain", f"{RDFS}range"}:
        if o.fields[0].startswith((XSD, RDFS)):
            return
        try:
            made.rules += [
                (head, (xy, *more)) for head, more in reader.heads(o, "x" if name.endswith("domain") else "y")
            ]
        except _BeyondRulesError:
            made.untold.append(f"{_text(s)} {name} ...")
    elif name in {f"{RDFS}subPropertyOf", f"{OWL}equivalentProperty"}:
        made.rules.append((("x", o, "y"), (xy,)))
        if name.endswith("equivalentProperty"):
            made.rules.append((xy, (("x", o, "y"),)))
    elif name == f"{OWL}inverseOf" and s.position == o.position == 0:
        made.rules += [(("y", o, "x"), (xy,)), (("x", s, "y"), (("y", o, "x"),))]
    elif name == f"{OWL}propertyChainAxiom":
        steps = reader.members(o)
        names = ["x", *(f"z{i}" for i in range(1, len(steps))), "y"]
        made.rules.append((xy, tuple(zip(names, steps, names[1:], strict=False))))
    elif name == f"{RDF}type" and o == iri(f"{OWL}TransitiveProperty"):
        made.rules.append((("x", s, "z"), (xy, ("y", s, "z"))))
    elif name == f"{RDF}type" and o == iri(f"{OWL}SymmetricProperty"):
        made.rules.append((("y", s, "x"), (xy,)))
    elif name in _UNTOLD or (name == f"{RDF}type" and o.fields[0] in _UNTOLD):
        made.untold.append(f"{_text(s)} {_text(iri(name))} {_text(o)}")


_UNTOLD = {
    OWL + name
    for name in (
        *(
            "disjointWith",
            "complementOf",
            "oneOf",
            "hasKey",
            "propertyDisjointWith",
            "FunctionalProperty",
            "disjointUnionOf",
        ),
        *("InverseFunctionalProperty", "IrreflexiveProperty", "AsymmetricProperty", "ReflexiveProperty"),
        *("AllDisjointClasses", "AllDisjointProperties"),
    )
}


def _text(term: Variant) -> str:
    return term.fields[0].replace(RDFS, "").replace(OWL, "").replace(RDF, "") if term.position == 0 else "[...]"
