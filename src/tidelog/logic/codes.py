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
    "E0306": "nothing tells the type of an expression",
    "E0307": "a type has no such field or component",
    "E0308": "only some constructors of a type have the field",
    "E0309": "a literal does not fit its type",
    "E0310": "an operator does not work on operands of this type",
    "E0311": "a cast between types that have none",
    "E0312": "a slice of bits that are not there",
    "E0313": "a constructor with the wrong fields",
    "E0314": "a loop over what is no collection",
    "E0315": "a pattern where a value is needed",
    "E0316": "`return`, `break` or `continue` with nothing to leave",
    "E0317": "an expression where a pattern is needed",
    "E0318": "patterns do not cover all values",
    "E0319": "a field has different types in constructors of one type",
    # functions and externs
    "E0501": "a call with the wrong number of arguments",
    "E0502": "a value has no text, since its type has no `to_string`",
    "E0503": "`group_by` outside a rule's body",
    "E0504": "no function, or more than one, fits a call",
    "E0505": "a call of what is no function",
    "E0506": "`?` where there is no failure to return",
    "E0507": "an assignment to what is no variable or part of one",
    "E0508": "an assignment to a variable that cannot be changed",
    "E0509": "a function calls itself",
    "E0510": "an extern function is not registered",
    "E0511": "an extern function is registered with another type",
    # warnings about functions
    "W0301": "an arm of a `match` is never reached",
    "W0302": "a variable of a pattern hides another one",
}
