"""Expressions and clauses in Python, by operator overloading; `build` makes programs of them.

A `Term` wraps an expression of the syntax tree. Python's operators are the language's; `x.f` is a field, `x.f(y)` a
method, `x[0]` a tuple's item and `x[7:0]` a bit slice. What Python cannot overload are functions: `and_`, `or_`,
`not_`, `implies`, `concat`. Where a term is expected, Python values stand for literals, lists for vectors, dictionaries
for maps and `...` for the wildcard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tidelog.base.diagnostic import Report
from tidelog.base.errors import ProgramError
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.lang import syntax
from tidelog.lang.format.format import format_expression
from tidelog.lang.parse.parse import parse_expression, parse_type
from tidelog.lang.syntax.walk import rewrite

_PYTHON_TYPES: dict[object, str] = {bool: "bool", int: "bigint", str: "string", float: "double"}


def type_of(given: object) -> syntax.TypeExpr:
    """Make a type of its text, or of one of Python's `bool`, `int`, `str`, `float`.

    >>> type_of(int)
    TypeName(path=('bigint',), arguments=())
    """
    match given:
        case str():
            report = Report()
            parsed = parse_type(Source("<type>", given), report)
            if parsed is None:
                raise ProgramError(report.errors)
            return parsed
        case type() if given in _PYTHON_TYPES:
            return syntax.TypeName((_PYTHON_TYPES[given],))
        case syntax.TypeName() | syntax.SizedType() | syntax.TupleType() | syntax.FunctionType() | syntax.TickName():
            return given
        case _:
            raise TypeError(f"not a type of the language: {given!r}")


def _infix(operator: str, *, swapped: bool = False) -> Callable[[Term, object], Term]:
    """Return the method of a binary operator."""

    def method(self: Term, other: object) -> Term:
        operands = (expression(other), expression(self)) if swapped else (expression(self), expression(other))
        return Term(syntax.Binary(operator, *operands))

    return method


class Term:
    """An expression of the language.

    >>> x, y = variables("x y")
    >>> (x + 1) * y, x.name, x.group_by(y).count(), x[7:0]
    ((x + 1) * y, x.name, x.group_by(y).count(), x[7:0])
    """

    __slots__ = ("_expression",)
    __hash__ = None  # type: ignore[assignment]
    __iter__ = None

    def __init__(self, expression: syntax.Expr) -> None:
        self._expression = expression

    def __repr__(self) -> str:
        return format_expression(self._expression)

    def __bool__(self) -> bool:
        raise TypeError(
            "a term has no truth value here: write and_(a, b), or_(a, b), not_(a), and no chains `a < b < c`"
        )

    def __getattr__(self, name: str) -> Member:
        if name.startswith("__"):
            raise AttributeError(name)
        return Member(self._expression, name)

    def __getitem__(self, index: int | slice) -> Term:
        if isinstance(index, slice):
            return Term(syntax.Slice(self._expression, index.start, index.stop))
        return Term(syntax.TupleAccess(self._expression, index))

    def __call__(self, *arguments: object) -> Term:
        return Term(syntax.Call(self._expression, tuple(map(expression, arguments))))

    def as_(self, type: object) -> Term:
        """Convert to a type: `x as T`."""
        return Term(syntax.Cast(self._expression, type_of(type)))

    def typed(self, type: object) -> Term:
        """State the type: `x: T`."""
        return Term(syntax.Annotated(self._expression, type_of(type)))

    def try_(self) -> Term:
        """Take the value out of an Option or Result: `x?`."""
        return Term(syntax.Try(self._expression))

    __eq__ = _infix("==")  # type: ignore[assignment]
    __ne__ = _infix("!=")  # type: ignore[assignment]
    __lt__ = _infix("<")
    __le__ = _infix("<=")
    __gt__ = _infix(">")
    __ge__ = _infix(">=")
    __add__ = _infix("+")
    __sub__ = _infix("-")
    __mul__ = _infix("*")
    __truediv__ = _infix("/")
    __mod__ = _infix("%")
    __lshift__ = _infix("<<")
    __rshift__ = _infix(">>")
    __and__ = _infix("&")
    __or__ = _infix("|")
    __xor__ = _infix("^")
    __radd__ = _infix("+", swapped=True)
    __rsub__ = _infix("-", swapped=True)
    __rmul__ = _infix("*", swapped=True)
    __rtruediv__ = _infix("/", swapped=True)
    __rmod__ = _infix("%", swapped=True)

    def __neg__(self) -> Term:
        return Term(syntax.Unary("-", self._expression))

    def __invert__(self) -> Term:
        return Term(syntax.Unary("~", self._expression))


class Member(Term):
    """`x.f`, which is a field; called, it is a method."""

    __slots__ = ("_name", "_of")

    def __init__(self, of: syntax.Expr, name: str) -> None:
        super().__init__(syntax.FieldAccess(of, name))
        self._of = of
        self._name = name

    def __call__(self, *arguments: object) -> Term:
        return Term(syntax.MethodCall(self._of, (self._name,), tuple(map(expression, arguments))))


def expression(value: object) -> syntax.Expr:
    """Make an expression of a term or a Python value."""
    match value:
        case Term():
            return value._expression  # noqa: SLF001 - an attribute with a plain name would hide a field of the language
        case bool():
            return syntax.BoolLiteral(value)
        case int():
            return syntax.IntLiteral(value) if value >= 0 else syntax.Unary("-", syntax.IntLiteral(-value))
        case float() if math.isfinite(value):
            literal = syntax.FloatLiteral(repr(abs(value)))
            return syntax.Unary("-", literal) if math.copysign(1, value) < 0 else literal
        case str():
            return syntax.StringLiteral((value,) if value else ())
        case tuple():
            return syntax.TupleExpr(tuple(map(expression, value))) if len(value) != 1 else expression(value[0])
        case list():
            return syntax.VecLiteral(tuple(map(expression, value)))
        case dict() if value:
            return syntax.MapLiteral(tuple((expression(key), expression(item)) for key, item in value.items()))
        case _ if value is ...:
            return syntax.Wildcard()
        case _:
            raise TypeError(f"not a term of the language: {value!r}")


def variables(names: str) -> tuple[Any, ...]:
    """Make variables of their names.

    >>> variables("x y")
    (x, y)
    """
    return tuple(Term(syntax.Name((name,))) for name in names.split())


def text(source: str) -> Term:
    """Make a term of its text.

    >>> text("if (x > 3) y else 0")
    if (x > 3) y else 0
    """
    report = Report()
    parsed = parse_expression(Source("<expression>", source), report)
    if parsed is None:
        raise ProgramError(report.errors)
    return Term(parsed)


def function(name: str) -> Term:
    """Make a function of its name, which may be scoped, to be called with terms.

    >>> function("std::max")(variables("x")[0], 3)
    std::max(x, 3)
    """
    return Term(syntax.Name(tuple(name.split("::"))))


def _chain(operator: str, terms: Sequence[object]) -> Term:
    first, *rest = map(expression, terms)
    for term in rest:
        first = syntax.Binary(operator, first, term)
    return Term(first)


def and_(*terms: object) -> Term:
    """Hold if all hold."""
    return _chain("and", terms)


def or_(*terms: object) -> Term:
    """Hold if one holds."""
    return _chain("or", terms)


def not_(term: object) -> Term:
    """Hold if the term does not."""
    return Term(syntax.Unary("not", expression(term)))


def implies(condition: object, conclusion: object) -> Term:
    """Hold unless the condition holds and the conclusion does not."""
    return _chain("=>", (condition, conclusion))


def concat(*terms: object) -> Term:
    """Join strings or bits: `a ++ b`."""
    return _chain("++", terms)


# --- clauses ---------------------------------------------------------------------------------------------------------


@record
class Literal:
    """A clause of a body; `a | b` makes alternatives of two."""

    clause: syntax.Clause

    def __or__(self, other: Literal) -> Literal:
        alternatives: list[tuple[syntax.Clause, ...]] = []
        for clause in (self.clause, other.clause):
            alternatives += clause.alternatives if isinstance(clause, syntax.Either) else [(clause,)]
        return Literal(syntax.Either(tuple(alternatives)))


@record
class Application:
    """A relation applied to terms: a head, a clause, negated with `~`, or one of alternatives with `|`."""

    atom: syntax.Atom

    def __invert__(self) -> Literal:
        return Literal(syntax.Negative(self.atom))

    def __or__(self, other: Application | Literal) -> Literal:
        return Literal(syntax.Positive(self.atom)) | Literal(clause(other))

    def row(self, variable: Term) -> Application:
        """Bind a variable to the whole row: `x in R(...)`."""
        named = expression(variable)
        if not isinstance(named, syntax.Name):
            raise TypeError("a row is bound to a variable")
        return Application(syntax.Atom(self.atom.relation, self.atom.arguments, self.atom.whole, named.path[0]))


def applied(positional: Iterable[object], named: dict[str, object]) -> tuple[syntax.Argument, ...]:
    """Make arguments, which are all positional or all named."""
    arguments = tuple(syntax.Argument(None, expression(value)) for value in positional)
    if arguments and named:
        raise TypeError("arguments are all positional or all named")
    return arguments or tuple(syntax.Argument(name, expression(value)) for name, value in named.items())


@record
class Constructor:
    """A constructor, which makes terms and patterns.

    >>> Constructor("Some")(variables("x")[0]), Constructor("None")()
    (Some{x}, None)
    """

    name: str

    def __call__(self, *positional: object, **named: object) -> Term:
        return Term(syntax.Construct(tuple(self.name.split("::")), applied(positional, named)))


def let(pattern: object, value: object) -> Literal:
    """Bind the variables of a pattern to (parts of) a value: `var x = e`, `(var x, var y) = e`."""
    return Literal(syntax.Condition(syntax.Assign(_declared(expression(pattern)), expression(value))))


def each(pattern: object, collection: object) -> Literal:
    """Bind a pattern to each element of a collection: `var x = FlatMap(e)`."""
    return Literal(syntax.FlatMap(_declared(expression(pattern)), expression(collection)))


def either(*alternatives: Sequence[object]) -> Literal:
    """Hold if all clauses of one of the alternatives hold: `(a, b; c)`."""
    if len(alternatives) < 2:
        raise TypeError("a disjunction has at least two alternatives")
    return Literal(syntax.Either(tuple(tuple(map(clause, clauses)) for clauses in alternatives)))


def clause(given: object) -> syntax.Clause:
    """Make a clause of an application, a literal or a condition."""
    match given:
        case Application(atom):
            return syntax.Positive(atom)
        case Literal(inner):
            return inner
        case Term():
            return syntax.Condition(expression(given))
        case bool():
            raise TypeError("a condition compared to True or False before it became a term: is one side a variable?")
        case _:
            raise TypeError(f"not a clause: {given!r}")


def _declared(pattern: syntax.Expr) -> syntax.Expr:
    """Declare the variables of a pattern."""
    kinds = syntax.Name | syntax.TupleExpr | syntax.Construct | syntax.Annotated

    def declared(e: syntax.Expr) -> syntax.Expr | None:
        if isinstance(e, syntax.Name) and len(e.path) == 1:
            return syntax.VarDecl(e.path[0])
        return None if isinstance(e, kinds) else e

    return rewrite(pattern, declared)
