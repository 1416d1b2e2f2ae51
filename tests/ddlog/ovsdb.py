"""Relations of the tables of an OVSDB, as DDlog's `ovsdb2ddlog` declares them: inputs, outputs, and what changes.

Each table is an input relation, keyed by `_uuid`. Of a table that a program computes, `Out_T` is what it should hold;
rules compare both: `DeltaPlus_T` is to be inserted, `DeltaMinus_T` deleted (of root tables only), `Update_T` changed.
A table that is output only is `Out_T` alone. Options are those of `ovsdb2ddlog`, one a line.
"""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

ATOMIC = {"integer": "integer", "real": "double", "boolean": "bool", "uuid": "uuid"}
WORDS = """
_ and apply as bigint bit bool break continue double else extern false float for function if import in input
multiset mut not or output relation return signed skip stream string transformer true typedef var
abstract async await become box const crate do dyn final fn impl let loop macro match mod move override priv pub
ref self static struct super trait try type typeof unsafe unsized use virtual where while yield
"""
KEYWORDS = frozenset(WORDS.split())
"""Words of DDlog and Rust, which get two underscores as the name of a column."""


@dataclass
class Options:
    """What is said of the tables of a schema: the columns that a program writes (`--rw`) or does not (`--ro`)."""

    outputs: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    only: set[str] = field(default_factory=set)
    interned: set[str] = field(default_factory=set)
    strings: str = "string"

    @classmethod
    def read(cls, text: str) -> "Options":
        """Read the lines of a file of options."""
        options = cls()
        for line in text.splitlines():
            name, *rest = shlex.split(line)
            match name, rest:
                case "--intern-strings", []:
                    options.strings = "istring"
                case "-o", [table]:
                    options.outputs.setdefault(table, {"--rw": set(), "--ro": set()})
                case "--output-only", [table]:
                    options.only.add(table)
                case "--intern-table", [table]:
                    options.interned.add(table)
                case "--rw" | "--ro", [column]:
                    table, _, column = column.partition(".")
                    options.outputs[table][name].add(column)
                case _:
                    raise ValueError(line)
        return options

    def written(self, table: str, columns: list[str]) -> list[str]:
        """Return the columns of a table that a program writes."""
        said = self.outputs.get(table, {"--rw": set(), "--ro": set()})
        if said["--rw"]:
            return [column for column in columns if column in said["--rw"] | {"_uuid"}]
        return [column for column in columns if column not in said["--ro"]]


def declarations(schema: str, options: Options) -> str:
    """Return the module of a schema."""
    tables = json.loads(schema)["tables"]
    lines = (line for name, table in tables.items() for line in _table(name, table, options))
    return "\n".join(["import ovsdb", *lines])


def _table(name: str, table: dict[str, Any], options: Options) -> Iterator[str]:
    columns = {"_uuid": "uuid"} | {column: _type(one["type"], options) for column, one in table["columns"].items()}
    relation = name[0].upper() + name[1:]
    written = options.written(name, list(columns))
    if name in options.only:
        yield _relation("output", f"Out_{relation}", written, columns)
        return
    yield from _input(relation, columns, interned=name in options.interned)
    if name not in options.outputs:
        return
    yield _relation("", f"Out_{relation}", written, columns)
    there = f"{'&' if name in options.interned else ''}{relation}"
    every = ", ".join(f".{_column(column)} = {_column(column)}" for column in written)
    yield _relation("output", f"DeltaPlus_{relation}", written, columns)
    yield f"DeltaPlus_{relation}({every}) :- Out_{relation}({every}), not {there}(._uuid = _uuid)."
    if table.get("isRoot", False):
        yield _relation("output", f"DeltaMinus_{relation}", ["_uuid"], columns)
        yield f"DeltaMinus_{relation}(uuid) :- {there}(._uuid = uuid), not Out_{relation}(._uuid = uuid)."
    yield _relation("output", f"Update_{relation}", written, columns)
    new, old = _versions("__new_", written), _versions("__old_", written)
    given = ", ".join(f".{_column(c)} = {v}" for c, v in zip(written, new, strict=True))
    there += f"({', '.join(f'.{_column(c)} = {v}' for c, v in zip(written, old, strict=True))})"
    different = f"({', '.join(old)}) != ({', '.join(new)})"
    yield f"Update_{relation}({given}) :- Out_{relation}({given}), {there}, {different}."


def _input(relation: str, columns: dict[str, str], *, interned: bool) -> Iterator[str]:
    if interned:
        yield f"typedef {relation} = {relation}{{{_fields(list(columns), columns)}}}"
        yield f"input relation {relation}[Intern<{relation}>] primary key (x) x._uuid"
    else:
        yield f"{_relation('input', relation, list(columns), columns)} primary key (x) x._uuid"


def _relation(role: str, name: str, names: list[str], columns: dict[str, str]) -> str:
    return f"{role} relation {name}({_fields(names, columns)})"


def _fields(names: list[str], columns: dict[str, str]) -> str:
    return ", ".join(f"{_column(name)}: {columns[name]}" for name in names)


def _versions(prefix: str, names: list[str]) -> list[str]:
    return [name if name == "_uuid" else prefix + _column(name) for name in names]


def _column(name: str) -> str:
    return f"__{name.lower()}" if name.lower() in KEYWORDS else name.lower()


def _type(type: Any, options: Options) -> str:
    if isinstance(type, str):
        return _atomic(type, options)
    least, most = type.get("min", 1), type.get("max", 1)
    key = _base(type["key"], options)
    if (least, most) == (1, 1):
        return key
    if (least, most) == (0, 1):
        return f"Option<{key}>"
    return f"Map<{key},{_base(type['value'], options)}>" if "value" in type else f"Set<{key}>"


def _base(type: Any, options: Options) -> str:
    if isinstance(type, str):
        return _atomic(type, options)
    return "uuid" if "refTable" in type else _atomic(type["type"], options)


def _atomic(type: str, options: Options) -> str:
    return options.strings if type == "string" else ATOMIC[type]
