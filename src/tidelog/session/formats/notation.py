"""Values in JSON, dates and times as text, by their type as the library reads them; for who writes commands."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.errors import DataError
from tidelog.base.types import Named, Type, TypeDefinition, show
from tidelog.base.values import Value
from tidelog.logic.std.clock import LITERALS
from tidelog.logic.std.texts.documents import MisfitError, from_plain, read


def value_of_json(text: str, type: Type, types: Mapping[str, TypeDefinition]) -> Value:
    """Return the value of a type that a JSON text stands for.

    >>> from tidelog.base.types import Bit, Named
    >>> value_of_json("[1, 2]", Named("std::Vec", (Bit(8),)), {})
    (1, 2)
    """
    try:
        return from_plain(read(text), type, types)
    except MisfitError as error:
        raise DataError(f"JSON for a {show(type)}: {error}") from None
    except RecursionError:
        raise DataError(f"JSON for a {show(type)} is nested too deeply") from None


def value_of_text(text: str, type: Named) -> Value | None:
    """Return the date or time that a text stands for; None if the type is neither.

    >>> value_of_text("2024-02-29", Named("time::Date")).fields
    (2024, 2, 29)
    """
    reader = LITERALS.get(type.name)
    if reader is None:
        return None
    outcome = reader(text)
    if outcome.position:
        raise DataError(f"expected a {show(type)}: {outcome.fields[0]}")
    return outcome.fields[0]
