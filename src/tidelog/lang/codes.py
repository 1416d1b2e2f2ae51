"""The codes of syntax mistakes, each with its meaning; each has an example in `tests/errors`.

E010x are mistakes of the lexer, E011x and E012x of the parser, E013x constructs of DDlog that Tidelog does not have.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    "E0101": "a character that is not part of the language",
    "E0102": "a block comment that is never closed",
    "E0103": "a string that is never closed",
    "E0104": "an unknown escape sequence in a string",
    "E0105": "a malformed number",
    "E0106": "a `${` that is never closed",
    "E0107": "nesting that is too deep",
    "E0110": "something else was expected here",
    "E0111": "a bracket that is never closed",
    "E0112": "a rule without its final `.`",
    "E0113": "a wrong arrow between the head and the body of a rule",
    "E0114": "`;` between the clauses of a body",
    "E0115": "a name that must begin with a capital letter",
    "E0116": "a name that must begin with a small letter",
    "E0117": "a keyword in the place of a name",
    "E0118": "a missing `;` between the expressions of a block",
    "E0119": "an assignment in the place of a condition",
    "E0120": "a relation inside an expression",
    "E0121": "a branch that needs braces",
    "E0122": "a chain of comparisons",
    "E0123": "square brackets that are not a bit slice",
    "E0124": "positional and named arguments mixed",
    "E0125": "a declaration that begins with an unknown word",
    "E0126": "an attribute that belongs to nothing",
    "E0127": "a declaration where only rules are allowed",
    "E0130": "`apply`, which Tidelog does not have",
    "E0131": "`transformer`, which Tidelog does not have",
    "E0132": "`Inspect`, which Tidelog does not have",
    "E0133": "a delayed relation, which Tidelog does not have",
    "E0134": "the differential of a stream, which Tidelog does not have",
}
