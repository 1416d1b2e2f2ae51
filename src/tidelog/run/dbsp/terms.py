"""Rules and facts as the paper writes them (paper 000, section 3, Equation 1), for those who use the interpreter alone.

    R(x, z) <- P(x, y), R(y, z)

Unquoted names are variables and `_` is any value; texts in double quotes, with the escapes of JSON, and numbers are
constants. A fact is a rule without a body and without variables. Negated atoms, `not P(x)`, go beyond the paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Hashable

from tidelog.base.arguments import expect
from tidelog.base.record import record


@record
class Var:
    """A variable."""

    name: str

    def __str__(self) -> str:
        return self.name


ANY = Var("_")
"""Any value, which nothing else looks at."""


@record
class Atom:
    """A relation and its terms: variables, and values as constants."""

    relation: str
    terms: tuple[Hashable, ...]
    negated: bool = False

    def __str__(self) -> str:
        terms = ", ".join(_shown(term) for term in self.terms)
        return f"{'not ' if self.negated else ''}{self.relation}({terms})"


@record
class Fact:
    """A ground atom."""

    relation: str
    values: tuple[Hashable, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(_shown, self.values))})"


@record
class Rule:
    """A head that holds when all of a body does."""

    head: Atom
    body: tuple[Atom, ...]

    def __str__(self) -> str:
        return f"{self.head} <- {', '.join(map(str, self.body))}"


_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<float>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))|(?P<number>-?\d+)'
    r"|(?P<name>[^\W\d]\w*)|(?P<mark><-|:-|[(),.]))"
)


def read(text: str) -> Rule | Fact:
    r"""Read a rule or a fact.

    >>> print(read('R(x, y) <- P(x, y), not R(y, x)'))
    R(x, y) <- P(x, y), not R(y, x)
    >>> read('P("a", 1)')
    Fact(relation='P', values=('a', 1))
    >>> print(read(r'P("a \"b\"", 1.5)'))
    P("a \"b\"", 1.5)
    """
    expect(text, str, "text", "the text of a rule or a fact")
    tokens = _tokens(text)
    head = _atom(tokens, text)
    body = []
    if tokens and tokens[0][1] in ("<-", ":-"):
        tokens.pop(0)
        body.append(_atom(tokens, text))
        while tokens and tokens[0][1] == ",":
            tokens.pop(0)
            body.append(_atom(tokens, text))
    if tokens and tokens[0][1] == ".":
        tokens.pop(0)
    if tokens:
        raise ValueError(f"{text!r}: `{tokens[0][1]}` was not expected; a rule is written R(x, z) <- P(x, y), R(y, z)")
    if not body and not any(isinstance(term, Var) for term in head.terms):
        return Fact(head.relation, head.terms)
    return safe(Rule(head, tuple(body)))


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(f"{text!r}: `{text[at:].strip()[0]}` has no meaning here")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def _atom(tokens: list[tuple[str, str]], text: str) -> Atom:
    negated = bool(tokens) and tokens[0] == ("name", "not")
    if negated:
        tokens.pop(0)
    relation = _expect(tokens, "name", text)
    terms: list[Hashable] = []
    _expect(tokens, "(", text)
    while tokens and tokens[0][1] != ")":
        kind, word = tokens.pop(0)
        if kind == "mark":
            raise ValueError(f"{text!r}: a term was expected, not `{word}`")
        terms.append(_term(kind, word, text))
        if tokens and tokens[0][1] != ")":
            _expect(tokens, ",", text)
    _expect(tokens, ")", text)
    return Atom(relation, tuple(terms), negated)


def _term(kind: str, word: str, text: str) -> Hashable:
    if kind == "string":
        try:
            return str(json.loads(word, strict=False))
        except ValueError as error:
            raise ValueError(f"{text!r}: {word} has an escape that JSON does not know ({error})") from None
    if kind == "name":
        return Var(word)
    return float(word) if kind == "float" else int(word)


def _expect(tokens: list[tuple[str, str]], wanted: str, text: str) -> str:
    if not tokens or wanted not in tokens[0]:
        found = f"`{tokens[0][1]}`" if tokens else "the end"
        raise ValueError(f"{text!r}: {'a name' if wanted == 'name' else f'`{wanted}`'} was expected, not {found}")
    return tokens.pop(0)[1]


def safe(rule: Rule) -> Rule:
    """Return a rule whose variables all get values, positively and before a negation looks at them."""
    if rule.head.negated or ANY in rule.head.terms:
        raise ValueError(f"{rule}: a head says what holds, `not` and `_` do not")
    bound = {term for atom in rule.body if not atom.negated for term in atom.terms if isinstance(term, Var)}
    for atom in (rule.head, *(atom for atom in rule.body if atom.negated)):
        for term in atom.terms:
            if isinstance(term, Var) and term not in bound and term != ANY:
                raise ValueError(f"{rule}: no positive atom gives `{term}` a value")
    positive = [atom for atom in rule.body if not atom.negated]
    return Rule(rule.head, (*positive, *(atom for atom in rule.body if atom.negated)))


def levels(rules: Collection[Rule]) -> dict[Rule, int]:
    """Return for each rule how many negations must be complete before it: its level, the least that will do."""
    of: dict[str, int] = {}
    for _ in range(len(rules) + 1):
        found = {
            rule: max((of.get(atom.relation, 0) + atom.negated for atom in rule.body), default=0) for rule in rules
        }
        after: dict[str, int] = {}
        for rule, level in found.items():
            after[rule.head.relation] = max(after.get(rule.head.relation, 0), level)
        if after == of:
            return found
        of = after
    worst = max(of, key=lambda relation: of[relation])
    raise ValueError(f"{worst} depends on its own negation: no order of evaluation makes that negation complete")


def _shown(term: Hashable) -> str:
    return json.dumps(term, ensure_ascii=False) if isinstance(term, str) else str(term)
