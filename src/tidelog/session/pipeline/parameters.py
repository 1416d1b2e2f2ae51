"""Parameters in a pipeline's file: `${NAME}` in any text is what was given, or a variable of the environment.

`$$` is a dollar. What the file itself has in the table `parameters` are defaults:

    parameters = { day = "2026-01-01" }
    [[source]]
    path = "data/${day}"
    options = { password = "${DB_PASSWORD}" }
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError

_PART = re.compile(r"\$\$|\$\{([^}]*)\}")


def filled(content: Any, given: Mapping[str, str], place: str) -> Any:
    """Return what a file says with its parameters filled in; `place` is the file, for messages.

    >>> filled({"path": "data/${day}", "n": [1, "$${x}"]}, {"day": "monday"}, "p.toml")
    {'path': 'data/monday', 'n': [1, '${x}']}
    """
    match content:
        case str():
            return _PART.sub(lambda part: _value(part[1], given, place), content)
        case dict():
            return {name: filled(value, given, place) for name, value in content.items()}
        case list():
            return [filled(value, given, place) for value in content]
        case _:
            return content


def _value(name: str | None, given: Mapping[str, str], place: str) -> str:
    if name is None:
        return "$"
    found = given.get(name, os.environ.get(name))
    if found is None:
        hint = did_you_mean(name, given)
        raise UserError(
            f"{place}: `${{{name}}}`: there is no parameter and no variable of the environment with this name; "
            f"give --set {name}=..." + (f"; {hint}" if hint else "")
        )
    return found
