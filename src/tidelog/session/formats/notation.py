"""Values in JSON by their type, as the library module `json` reads them; for those who write commands."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.errors import DataError
from tidelog.base.types import Type, TypeDefinition, show
from tidelog.base.values import Value
from tidelog.logic.std.documents import MisfitError, from_plain, read


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
