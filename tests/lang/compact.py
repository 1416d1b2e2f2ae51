"""Trees in short, for tests: `(Binary + x 1)`. Fields that have their default value are left out."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass

from tidelog.lang.syntax import (
    Argument,
    BoolLiteral,
    Construct,
    IntLiteral,
    Name,
    Positive,
    TickName,
    TypeName,
    Wildcard,
)


def compact(tree: object) -> str:
    match tree:
        case Name(path) | TypeName(path, ()) | Construct(path, ()):
            return "::".join(path)
        case Wildcard():
            return "_"
        case TickName(name):
            return f"'{name}"
        case IntLiteral(value, None, False, 10) | BoolLiteral(value):
            return str(value).lower()
        case Argument(None, value):
            return compact(value)
        case Positive(atom):
            return compact(atom)
        case str():
            return tree
        case tuple():
            if tree and all(isinstance(item, str) for item in tree):
                return "::".join(tree)
            return f"[{' '.join(map(compact, tree))}]"
        case _ if is_dataclass(tree):
            shown = [tree.__class__.__name__]
            for field in fields(tree):
                value = getattr(tree, field.name)
                if field.name != "span" and (field.default is MISSING or value != field.default):
                    shown.append(compact(value))
            return f"({' '.join(shown)})"
        case _:
            return str(tree)
