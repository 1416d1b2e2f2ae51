"""Module `rdf`: what its functions on terms do; `base.text.terms` has the terms themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidelog.base.text.terms import parse_term, show_term
from tidelog.base.values import Variant, err, ok
from tidelog.logic.std import datatypes


def _parse(text: str) -> Variant:
    try:
        return ok(parse_term(text))
    except ValueError as error:
        return err(str(error))


def _show(term: Variant) -> str:
    try:
        return show_term(term)
    except ValueError:
        return f"_:{term.fields[0]}"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "parse_term": _parse,
    "show_term": _show,
    "integer_value": datatypes.integer_value,
    "number_value": datatypes.number_value,
    "boolean_value": datatypes.boolean_value,
    "value_key": datatypes.value_key,
    "is_ill_typed": datatypes.is_ill_typed,
    "same_value": datatypes.same_value,
    "different_values": datatypes.different_values,
    "value_datatypes": datatypes.value_datatypes,
}
