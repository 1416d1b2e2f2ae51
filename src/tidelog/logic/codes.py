"""The codes of `logic`'s diagnostics and what they mean.

E02xx names and modules, E03xx types, E04xx rules and safety, E05xx functions and externs, W0xxx warnings.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    # names and modules
    "E0201": "a name is not declared",
    "E0202": "a name is declared twice",
    "E0203": "a name could mean declarations of several modules",
    "E0204": "a variable hides another one",
    # types
    "E0301": "an expression has another type than its place needs",
    "E0302": "a width has no bits",
    "E0303": "a type variable is not declared",
    "E0304": "a type has the wrong number of arguments",
    "E0305": "a type alias stands for itself",
    # functions and externs
}
