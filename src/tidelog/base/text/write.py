r"""Values as text: how they are shown by their type, and (in `base.text.read`) read.

The *display* form is what dumps and messages have and what commands read:

    Some{.x = 1}    (1, "tab\t")    [1, 2]    [("key", true)]    -0.5

A *cell*, as in a CSV file, differs only for strings, which stand there without quotes. Floating point numbers are the
shortest decimal that reads back as the same number. A term of RDF stands as in N-Triples, `<http://a>` or `"a"@en`, if
it can. Reading accepts fields by position (`Some{1}`) or name, integers
in the language's radixes (`0xff`, `8'hff`), maps also as `[key -> value]`, and constructors with or without their
module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

from tidelog.base import types as t
from tidelog.base.conform import Types, fields_of
from tidelog.base.process.growth import POINTER, before_integers
from tidelog.base.process.meter import ask, step
from tidelog.base.text.integers import show_integer
from tidelog.base.text.terms import TERM, written_term
from tidelog.base.values import Value, in_order, single

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def show_value(value: Value, type: t.Type, types: Types) -> str:
    """Write a value in the display form.

    >>> show_value((1, "a"), t.Tuple((t.Bit(8), t.STRING)), {})
    '(1, "a")'
    """
    match type:
        case t.Bool():
            return "true" if value else "false"
        case t.String():
            return quote(value)
        case t.BigInt() | t.Bit() | t.Signed():
            before_integers("string", value)
            return show_integer(value)
        case t.Double():
            return show_real(value)
        case t.Float():
            return show_single(value)
        case t.Tuple(items):
            step()
            return f"({', '.join(show_value(x, item, types) for x, item in zip(value, items, strict=True))})"
        case t.Named():
            return _show_named(value, type, types)
        case t.Function() | t.TypeVariable():
            return repr(value)
        case _:
            assert_never(type)


def show_cell(value: Value, type: t.Type, types: Types) -> str:
    """Write a value as a cell of a table: a string is itself, everything else has the display form."""
    return value if isinstance(value, str) else show_value(value, type, types)


def show_row(relation: str, columns: Sequence[t.Field], row: Sequence[Value], types: Types) -> str:
    """Write a tuple of a relation.

    >>> show_row("Path", [t.Field("a", t.Bit(8)), t.Field("b", t.Bit(8))], (1, 2), {})
    'Path{.a = 1, .b = 2}'
    """
    shown = (f".{c.name} = {show_value(x, c.type, types)}" for c, x in zip(columns, row, strict=True))
    return f"{relation}{{{', '.join(shown)}}}"


def _show_named(value: Value, type: t.Named, types: Types) -> str:
    match type:
        case t.Named(name, (item,)) if name == t.VEC:
            return f"[{', '.join(show_value(x, item, types) for x in value)}]"
        case t.Named(name, (item,)) if name == t.SET:
            return f"[{', '.join(show_value(x, item, types) for x in in_order(value))}]"
        case t.Named(name, arguments) if name == t.MAP:
            return f"[{', '.join(show_value(pair, t.Tuple(arguments), types) for pair in value.items())}]"
        case t.Named(name, (_, item)) if name == t.GROUP:
            return f"[{', '.join(show_value(x, item, types) for x, _ in value.members)}]"
        case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
            return show_value(value, inner, types)
        case t.Named(t.ANY):
            return show_value(value.value, value.type, types)
        case t.Named(name) if name == TERM and (text := written_term(value)) is not None:
            return text
        case _:
            definition = types.get(type.name)
            if definition is None or not definition.constructors:
                return repr(value)
            constructor = definition.constructors[value.position]
            step()
            own = zip(constructor.fields, fields_of(type, constructor, types), strict=True)
            fields = [t.Field(f.name, inner) for f, inner in own]
            return show_row(constructor.name.removeprefix("std::"), fields, value.fields, types)


def quote(text: str) -> str:
    r"""Write a string in quotes.

    >>> print(quote('say "a"\n'))
    "say \"a\"\n"
    """
    ask(POINTER * len(text))
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _escape(c) for c in text) + '"'


def _escape(character: str) -> str:
    return _ESCAPES.get(character) or f"\\u{{{ord(character):x}}}"


def show_real(number: float) -> str:
    """Write a double: the shortest digits that read back as the same number.

    >>> show_real(1.0), show_real(0.1), show_real(1e300 * 1e300)
    ('1', '0.1', 'inf')
    """
    if math.isnan(number):
        return "NaN"
    return repr(number).removesuffix(".0")


def show_single(number: float) -> str:
    """Write a float: the shortest digits that read back as the same number.

    >>> show_single(single(0.1))
    '0.1'
    """
    if not math.isfinite(number):
        return show_real(number)
    return next(show_real(short) for d in range(1, 10) if single(short := float(f"{number:.{d}g}")) == number)
