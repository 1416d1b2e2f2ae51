"""Typed expressions: the scalar language that all layers below `lang` share.

`logic` makes these from the syntax (names resolved, overloads chosen, types filled in, sugar gone); `plan` places them
in algebra; engines evaluate them. The form is a closed sum of frozen dataclasses. Every expression has a `type`.
`span` takes no part in equality.

Evaluation is strict and left to right, except `If`, `Match`, and the operators `and`, `or`, `=>`. Local variables
may be assigned (`Assign`, and the `places` of a `Call` with `mut` parameters); values themselves never change, so
assigning `x.f` replaces `x` by a copy. Names of locals are unique within a rule or function body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from tidelog.base import types
from tidelog.base.record import record
from tidelog.base.span import Placed
from tidelog.base.types import UNIT, Constructor, Type


@record
class Const(Placed):
    """A constant in its Python representation (see `base.values`)."""

    value: Any
    type: Type


@record
class Var(Placed):
    """A variable of a rule, a parameter or a local; in algebra, a column of the input."""

    name: str
    type: Type


@record
class MakeTuple(Placed):
    """A tuple of values."""

    items: tuple[Expr, ...]
    type: Type


@record
class Construct(Placed):
    """A constructor applied to all of its fields, in declaration order."""

    constructor: Constructor
    arguments: tuple[Expr, ...]
    type: Type


@record
class MakeVec(Placed):
    """A vector literal."""

    items: tuple[Expr, ...]
    type: Type


@record
class MakeMap(Placed):
    """A map literal; a later pair replaces an earlier one with the same key."""

    pairs: tuple[tuple[Expr, Expr], ...]
    type: Type


@record
class Project(Placed):
    """Component `index` of a tuple, or field `index` of a struct or union.

    With several constructors the field stands at `positions[k]` in the constructor of position k; the checker admits
    only fields that all of them have. After a successful test of the constructor (`Is`) `constructor` names it.
    """

    of: Expr
    index: int
    type: Type
    positions: tuple[int, ...] = ()


@record
class Is(Placed):
    """Tell whether a union value was made by the constructor."""

    of: Expr
    constructor: Constructor
    type: Type = types.BOOL


@record
class Operate(Placed):
    """A built-in operator on operands whose types were checked.

    Operators: `+ - * / %` (numbers; integers of fixed width wrap, `/` truncates toward zero, `%` has the sign of the
    dividend), `neg`, `~ & | ^ << >>` (integers), `++` (strings; bit vectors, the left one being the high bits),
    `slice` (operand, high, low as constants), `== != < <= > >=` (any type), `and or => not`, `as` (cast to `type`),
    `string` (the text of a value of a built-in type, as interpolation shows it).
    """

    operator: str
    operands: tuple[Expr, ...]
    type: Type


@record
class Call(Placed):
    """A call of a function of the program (`Program.functions[name]`), generic ones already instantiated.

    For each `mut` parameter, `places` has the variable that receives its final value (in parameter order).
    """

    function: str
    arguments: tuple[Expr, ...]
    type: Type
    places: tuple[Place, ...] = ()


@record
class Apply(Placed):
    """A call of a function value; `places` as for `Call`."""

    function: Expr
    arguments: tuple[Expr, ...]
    type: Type
    places: tuple[Place, ...] = ()


@record
class Lambda(Placed):
    """A function value that captures variables by value. A named function used as a value is `FunctionValue`."""

    parameters: tuple[Var, ...]
    body: Expr
    type: Type


@record
class FunctionValue(Placed):
    """A function of the program used as a value."""

    function: str
    type: Type


@record
class If(Placed):
    """A conditional; one without `else` has the unit value there."""

    condition: Expr
    then: Expr
    otherwise: Expr
    type: Type


@record
class Match(Placed):
    """The first arm whose pattern fits; the checker has shown that one always does."""

    subject: Expr
    arms: tuple[tuple[Pattern, Expr], ...]
    type: Type


@record
class Sequence(Placed):
    """Expressions in order; the value is the last one's, or unit."""

    items: tuple[Expr, ...]
    type: Type


@record
class Declare(Placed):
    """Bind the variables of an irrefutable pattern to a value (`var x = e`, `(var a, var b) = e`)."""

    pattern: Pattern
    value: Expr
    type: Type = UNIT


@record
class Assign(Placed):
    """Give a declared variable, or a part of it, a new value."""

    place: Place
    value: Expr
    type: Type = UNIT


@record
class For(Placed):
    """Run the body for each element of a Vec, Set (in order), Map (key, value) or Group (value, weight)."""

    pattern: Pattern
    iterable: Expr
    body: Expr
    type: Type = UNIT


@record
class Break(Placed):
    """Leave the innermost loop."""

    type: Type = UNIT


@record
class Continue(Placed):
    """Go on with the next element of the innermost loop."""

    type: Type = UNIT


@record
class Return(Placed):
    """Leave the function with a value."""

    value: Expr
    type: Type = UNIT


Expr = (
    Const | Var | MakeTuple | Construct | MakeVec | MakeMap | Project | Is | Operate | Call | Apply | Lambda
    | FunctionValue | If | Match | Sequence | Declare | Assign | For | Break | Continue | Return
)  # fmt: skip


@record
class Place:
    """A variable, or by `path` (as in `Project.index`) a component of it, that can be assigned."""

    name: str
    type: Type
    path: tuple[int, ...] = ()


@record
class AnyPattern:
    """Fits everything."""


@record
class VarPattern:
    """Fits everything and binds it; with `inner`, fits what that fits (`x @ pattern`)."""

    name: str
    type: Type
    inner: Pattern = AnyPattern()


@record
class ConstPattern:
    """Fits an equal value."""

    value: Any
    type: Type


@record
class TuplePattern:
    """Fits a tuple whose components fit."""

    items: tuple[Pattern, ...]


@record
class ConstructorPattern:
    """Fits a value of the constructor whose fields fit."""

    constructor: Constructor
    items: tuple[Pattern, ...]


Pattern = AnyPattern | VarPattern | ConstPattern | TuplePattern | ConstructorPattern


@record
class Parameter:
    """A parameter of a function."""

    name: str
    type: Type
    mutable: bool = False


@record
class Function(Placed):
    """A function of the program: a body in the language, or a Python callable.

    A Python callable gets the arguments in order. If it has `mut` parameters it returns a tuple of the result and
    the final values of those parameters, in order; so does every function value with `mut` parameters. `typed` says
    that it wants a `base.extern.Signature` as first argument, as `default()` and JSON decoding need. What a callable
    returns is checked against the declared types unless it is `trusted`. A `plain` one takes and returns plain values
    (`base.plain.call`), which are checked, too.
    `pure` functions give equal results for equal arguments, which lets engines call them once per distinct argument.
    `recursive` ones call themselves, perhaps through others. A `monotone` one grows, or stays, with each argument.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Expr | None = None
    python: Callable[..., Any] | None = field(default=None, compare=False)
    typed: bool = False
    pure: bool = True
    trusted: bool = False
    plain: bool = False
    recursive: bool = False
    monotone: bool = False
