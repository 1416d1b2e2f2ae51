"""Writing declarations and modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from tidelog.lang import syntax
from tidelog.lang.format.comments import written
from tidelog.lang.format.expressions import path, write_type
from tidelog.lang.format.layout import BLANK, HARD, LINE, Doc, bracketed, group, nest
from tidelog.lang.format.rules import RuleFormatter


class DeclarationFormatter(RuleFormatter):
    """Writes declarations and modules."""

    def module(self, module: syntax.Module) -> Doc:
        """Write a module: declarations and comments as far apart as in the source, but at most by one empty line."""
        pieces: list[tuple[bool, Doc]] = []
        previous: syntax.Declaration | None = None
        for declaration in module.declarations:
            place = self._whole(declaration)
            pieces += [self._alone(comment) for comment in (self.take(place[0]) if place else [])]
            doc = self.declaration(declaration)
            if place:
                apart = self.empty_line_before(place[0])
                above = self.take(self._last(declaration, place[1]))
                pieces += [(False, written(comment)) for comment in above]
                below = self.take(place[1])
                inner, outer = self.trailing(self.take_behind(place[1]))
                doc = (doc, inner, outer, *((HARD, written(comment)) for comment in below))
            else:
                apart = previous is not None and _far(previous, declaration)
            pieces.append((apart, doc))
            previous = declaration
        pieces += [self._alone(comment) for comment in self.take(len(self.text) + 1)]
        docs: list[Doc] = []
        for apart, doc in pieces:
            docs += [BLANK if apart else HARD, doc] if docs else [doc]
        return (*docs, HARD) if docs else ()

    def _last(self, declaration: syntax.Declaration, end: int) -> int:
        """Return where the last clause of a rule ends: comments between it and the `.` go below the rule."""
        body = declaration.body if isinstance(declaration, syntax.RuleDef) else ()
        place = self.place(body[-1]) if body else None
        return place[1] if place else end

    def _alone(self, comment: syntax.Comment) -> tuple[bool, Doc]:
        return self.empty_line_before(comment.span.start), written(comment)

    def _whole(self, declaration: syntax.Declaration) -> tuple[int, int] | None:
        """Return where a declaration begins, with its attributes, and ends."""
        place = self.place(declaration)
        if place is None or not declaration.attributes:
            return place
        first = self.place(declaration.attributes[0])
        return (self.text.rfind("#", 0, first[0]), place[1]) if first else place

    def declaration(self, declaration: syntax.Declaration) -> Doc:
        """Write a declaration with its attributes."""
        attributes = tuple((self.attribute(attribute), HARD) for attribute in declaration.attributes)
        return (*attributes, self._declared(declaration))

    def _declared(self, declaration: syntax.Declaration) -> Doc:
        match declaration:
            case syntax.Import(names, alias):
                return f"import {path(names)}" + ("" if alias is None else f" as {alias}")
            case syntax.Prefix(name, iri):
                return f"prefix {name}: <{iri}>"
            case syntax.TypeDef():
                return self.typedef(declaration)
            case syntax.FunctionDef():
                return self.function(declaration)
            case syntax.RelationDef():
                return self.relation(declaration)
            case syntax.IndexDef(name, parameters, atom):
                fields = self.parenthesised(parameters, self.field)
                return group(f"index {name}", fields, " on ", self.atom(atom))
            case syntax.TransformerDef(name, inputs, outputs):
                given, made = (self.parenthesised(part, self.transformed) for part in (inputs, outputs))
                return group(f"extern transformer {name}", given, " -> ", made)
            case syntax.Apply(transformer, inputs, outputs):
                given, made = ", ".join(map(path, inputs)), ", ".join(map(path, outputs))
                return f"apply {path(transformer)}({given}) -> ({made})"
            case syntax.RuleDef():
                return self.rule(declaration)
            case syntax.ImperativeRule(statement):
                return self.statement(statement)
            case _:
                assert_never(declaration)

    def attribute(self, attribute: syntax.Attribute) -> Doc:
        """Write `#[name = value]`."""
        if attribute.value is None:
            return f"#[{attribute.name}]"
        return (f"#[{attribute.name} = ", self.expression(attribute.value), "]")

    def attributes(self, attributes: syntax.Attributes) -> Doc:
        """Write attributes in the line of what they describe."""
        return tuple((self.attribute(attribute), " ") for attribute in attributes)

    def field(self, field: syntax.FieldDecl) -> Doc:
        """Write `name: type`, of a column also `min name: type`."""
        bound = "" if field.bound is None else f"{field.bound} "
        return (self.attributes(field.attributes), f"{bound}{field.name}: {write_type(field.type)}")

    def transformed(self, argument: syntax.TransformerArgument) -> Doc:
        """Write an argument of a transformer."""
        if isinstance(argument, syntax.RelationArgument):
            return f"{argument.name}: relation[{write_type(argument.row)}]"
        parameters = self.parenthesised(argument.parameters, self.with_attributes)
        return (f"{argument.name}: function", parameters, f": {write_type(argument.result)}")

    def typedef(self, typedef: syntax.TypeDef) -> Doc:
        """Write a type definition, with one constructor a line if they do not fit."""
        parameters = ", ".join(f"'{name}" for name in typedef.parameters)
        name = f"{typedef.name}<{parameters}>" if parameters else typedef.name
        body = typedef.body
        if body is None:
            return f"extern type {name}"
        if not isinstance(body, tuple):
            return f"typedef {name} = {write_type(body)}"
        alone = len(body) == 1
        docs, commented = self.listed(body, lambda c: self.constructor(c, alone=alone), "", None)
        line = HARD if commented else LINE
        if alone:
            return group(f"typedef {name} = ", docs[0])
        return group(f"typedef {name} =", nest(line, docs[0], *((line, "| ", doc) for doc in docs[1:])))

    def constructor(self, constructor: syntax.ConstructorDecl, *, alone: bool) -> Doc:
        """Write `C{f: T}`; an only constructor without fields keeps its braces, to differ from a type's name."""
        attributes = self.attributes(constructor.attributes)
        if not constructor.fields:
            return (attributes, constructor.name, "{}" if alone else "")
        place = self.place(constructor)
        fields, commented = self.listed(constructor.fields, self.field, ",", place[1] - 1 if place else None)
        return (attributes, bracketed(constructor.name + "{", fields, "}", hard=commented))

    def function(self, function: syntax.FunctionDef) -> Doc:
        """Write a function."""
        extern = "extern " if function.body is None else ""
        parameters = self.parenthesised(function.parameters, self.with_attributes)
        result = "" if function.result is None else f": {write_type(function.result)}"
        head = group(f"{extern}function {function.name}", parameters, result)
        match function.body:
            case None:
                return head
            case syntax.Block() as block:
                return (head, " ", group(self.block(block)))
            case body:
                return (head, group(" =", nest(LINE, self.expression(body))))

    def with_attributes(self, parameter: syntax.Parameter) -> Doc:
        """Write a parameter with its attributes."""
        return (self.attributes(parameter.attributes), self.parameter(parameter))

    def relation(self, relation: syntax.RelationDef) -> Doc:
        """Write a relation."""
        role = "" if relation.role == "internal" else f"{relation.role} "
        name = f"{role}{relation.kind} {'&' if relation.reference else ''}{relation.name}"
        row: Doc
        if relation.element is not None:
            row = f"[{write_type(relation.element)}]"
        else:
            row = self.parenthesised(relation.fields, self.field)
        key = relation.primary_key
        if key is None:
            return (name, row)
        return (name, row, group(nest(LINE, f"primary key ({key.variable}) ", self.expression(key.expression))))

    def parenthesised(
        self,
        nodes: Sequence[syntax.FieldDecl] | Sequence[syntax.Parameter] | Sequence[syntax.TransformerArgument],
        write: Callable[..., Doc],
    ) -> Doc:
        """Write fields or parameters in parentheses, one a line if they do not fit."""
        docs, commented = self.listed(nodes, write, ",", None)
        return bracketed("(", docs, ")", hard=commented) if docs else "()"


def _far(previous: syntax.Declaration, declaration: syntax.Declaration) -> bool:
    """Tell whether an empty line belongs between two declarations that come from no source."""
    if isinstance(previous, syntax.RuleDef) and isinstance(declaration, syntax.RuleDef):
        return previous.heads[0].atom.relation != declaration.heads[0].atom.relation
    return type(previous) is not type(declaration) or isinstance(declaration, syntax.FunctionDef)
