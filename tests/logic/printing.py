"""The typed program as text, for golden files."""

from collections.abc import Iterator

from tidelog.base.text.show import show_expression
from tidelog.base.types import TypeDefinition, show
from tidelog.logic import program as logic
from tidelog.logic.print import print_atom, print_rule


def print_program(program: logic.Program) -> str:
    """Return types, relations, indexes and rules, a line each. Types and functions of the library are left out."""
    rows = {relation.name for relation in program.relations.values()}
    lines = [_type(t) for t in program.types.values() if t.name not in rows and not t.name.startswith("std::")]
    lines += map(_relation, program.relations.values())
    lines += map(_index, program.indexes.values())
    lines += map(print_rule, program.rules)
    return "".join(f"{line}\n" for line in lines)


def _type(definition: TypeDefinition) -> str:
    parameters = f"<{', '.join(chr(39) + p for p in definition.parameters)}>" if definition.parameters else ""
    if not definition.constructors:
        return f"extern type {definition.name}{parameters}"
    return f"typedef {definition.name}{parameters} = {' | '.join(_constructors(definition))}"


def _constructors(definition: TypeDefinition) -> Iterator[str]:
    for constructor in definition.constructors:
        fields = ", ".join(f"{f.name}: {show(f.type)}" for f in constructor.fields)
        yield f"{constructor.name}{{{fields}}}" if fields else constructor.name


def _relation(relation: logic.Relation) -> str:
    role = "" if relation.role == "internal" else f"{relation.role} "
    columns = ", ".join(f"{c.name}: {show(c.type)}" for c in relation.columns)
    key = f" primary key {show_expression(relation.primary_key)}" if relation.primary_key else ""
    return f"{'auxiliary ' if relation.auxiliary else role}relation {relation.name}({columns}){key}"


def _index(index: logic.Index) -> str:
    parameters = ", ".join(f"{p.name}: {show(p.type)}" for p in index.parameters)
    return f"index {index.name}({parameters}) on {print_atom(index.atom)}"
