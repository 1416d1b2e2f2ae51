"""The rules of an ontology as the text of a program, over triples or with a relation for each class and property."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidelog.base.text.terms import RDF, iri, show_term
from tidelog.base.text.write import show_value
from tidelog.base.types import STRING
from tidelog.base.values import Variant
from tidelog.lang.parse.lex import IRI_TEXT, KEYWORDS
from tidelog.session.formats.rdf.ontology import Clause, Ontology

TYPE = iri(f"{RDF}type")
_PREFIX = re.compile("[a-z][A-Za-z0-9_]*").fullmatch
_LOCAL = re.compile(r"(.*[#/])([A-Za-z_]\w*)", re.ASCII)
_TYPE_NAME = re.compile("bool|istring|bigint|usize|isize|bit|signed|[usi][0-9]+")


def program_text(ontology: Ontology, title: str, declared: Mapping[str, str], *, relations: bool = False) -> str:
    """Return a program with these rules; facts are given for `Triple`. IRIs get the prefixes that the file declares."""
    writer = (_Relations if relations else _Triples)(declared)
    rules = [writer.rule(head, body) for head, body in ontology.rules]
    told = [f"// No rules: {text}" for text in ontology.untold]
    prefixes = [f"prefix {name}: <{space}>" for space, name in writer.prefixes.items()]
    head = [f"// {len(rules)} rules of {title}.", *told, "import rdf", *prefixes]
    return "\n".join([*head, "", *writer.declared(), "", *rules, ""])


class _Triples:
    """Writes rules over triples."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self.prefixes: dict[str, str] = {}
        self._given = {space: name for name, space in declared.items() if _PREFIX(name) and name not in KEYWORDS}
        self._short: dict[Variant, str] = {}

    def declared(self) -> list[str]:
        return ["input relation Triple(s: rdf::Term, p: rdf::Term, o: rdf::Term)"]

    def rule(self, head: Clause, body: tuple[Clause, ...]) -> str:
        """Write a rule."""
        used = " ".join(" ".join((x, y if isinstance(y, str) else "")) for x, _, y in (head, *body)).split()
        once = {name for name in used if used.count(name) == 1}
        return f"{self.atom(head, once)} :- {', '.join(self.atom(clause, once) for clause in body)}."

    def atom(self, clause: Clause, once: set[str]) -> str:
        """Write a class or a property of variables; of those that stand nowhere else `_`."""
        x, name, y = clause
        shown = "_" if x in once else x
        if y == "":
            return f"Triple({shown}, {self.name(TYPE)}, {self.name(name)})"
        return f"Triple({shown}, {self.name(name)}, {self.second(y, once)})"

    def second(self, y: str | Variant, once: set[str]) -> str:
        """Write the second argument of a property."""
        if isinstance(y, str):
            return "_" if y in once else y
        if y.position == 0:
            return self.name(y)
        text, datatype, language = y.fields
        quoted = show_value(text, STRING, {})
        if language:
            return f"{quoted}@{language}"
        kind = self.name(iri(datatype))
        if kind[0] == "<" and not IRI_TEXT(datatype):
            return f"rdf::typed_literal({quoted}, {show_value(datatype, STRING, {})})"
        return f"{quoted}^^{kind}"

    def name(self, term: Variant) -> str:
        """Write an IRI, with a prefix if that can be."""
        if term not in self._short:
            found = _LOCAL.fullmatch(term.fields[0])
            proper = found and found[2] not in KEYWORDS and not _TYPE_NAME.fullmatch(found[2])
            self._short[term] = f"{self._prefix(found[1])}:{found[2]}" if found and proper else show_term(term)
        return self._short[term]

    def _prefix(self, space: str) -> str:
        if space not in self.prefixes:
            last = (
                re.sub(r"\W", "_", space.rstrip("#/").rpartition("/")[2].partition(".")[0]).lower().strip("_0123456789")
            )
            last = last if re.match("[a-z]", last) and last not in KEYWORDS else "ns"
            name = "rdf" if space == RDF else self._given.get(space, last)
            while name in self.prefixes.values():
                name += "x"
            self.prefixes[space] = name
        return self.prefixes[space]


class _Relations(_Triples):
    """Writes rules over a relation for each class and each property, which rules fill from triples."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        super().__init__(declared)
        self._relations: dict[tuple[Variant, bool], str] = {}

    def declared(self) -> list[str]:
        lines = super().declared()
        for (term, is_class), name in self._relations.items():
            columns, row = ("x: rdf::Term", "x") if is_class else ("x: rdf::Term, y: rdf::Term", "x, y")
            place = f"x, {self.name(TYPE)}, {self.name(term)}" if is_class else f"x, {self.name(term)}, y"
            lines += [f"output relation {name}({columns})", f"{name}({row}) :- Triple({place})."]
        return lines

    def atom(self, clause: Clause, once: set[str]) -> str:
        x, term, y = clause
        shown = "_" if x in once else x
        second = "" if y == "" else f", {self.second(y, once)}"
        return f"{self._relation(term, y == '')}({shown}{second})"

    def _relation(self, term: Variant, is_class: bool) -> str:
        if (term, is_class) not in self._relations:
            local = re.sub(r"\W", "_", re.split("[#/]", term.fields[0])[-1], flags=re.ASCII).strip("_0123456789") or "R"
            name = local[0].upper() + local[1:]
            while name in {"Triple", *self._relations.values()}:
                name += "_"
            self._relations[term, is_class] = name
            self.name(term), self.name(TYPE)
        return self._relations[term, is_class]
