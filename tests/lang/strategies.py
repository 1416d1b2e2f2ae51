"""Random syntax trees, of every shape that the parser can make, for hypothesis."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from tidelog.base.text.show import PRECEDENCE
from tidelog.lang import syntax as s
from tidelog.lang.format.rules import _accepts_else
from tidelog.lang.parse.lex import KEYWORDS

Strategy = st.SearchStrategy
Tree = TypeVar("Tree")


@st.composite
def fresh(draw: st.DrawFn, of: Strategy[Tree]) -> Tree:
    """Draw a tree that hypothesis does not know the making of: to print that takes time exponential in the depth."""
    return deepcopy(draw(of))


lower: Strategy[str] = st.sampled_from(
    ["x", "y", "i", "index", "on", "key", "type", "stream", "apply"]
) | st.from_regex(r"[a-z_][A-Za-z0-9_]{0,4}", fullmatch=True).filter(lambda word: word not in KEYWORDS)
upper: Strategy[str] = st.sampled_from(["R", "S", "Some"]) | st.from_regex(
    r"[A-Z][A-Za-z0-9_]{0,4}", fullmatch=True
).filter(lambda word: word not in KEYWORDS)
name = lower | upper


def path(last: Strategy[str]) -> Strategy[s.Path]:
    return st.builds(lambda scope, end: (*scope, end), st.lists(name, max_size=1), last)


def tuples(of: Strategy[Any], smallest: int = 0, largest: int = 3) -> Strategy[tuple[Any, ...]]:
    return st.lists(of, min_size=smallest, max_size=largest).map(tuple)


def not_one(of: Strategy[Any]) -> Strategy[tuple[Any, ...]]:
    return st.just(()) | tuples(of, 2)


# --- types -----------------------------------------------------------------------------------------------------------


def _unsized(word: str) -> str:
    return f"{word}s" if word in {"bit", "signed"} else word


def _more_types(inner: Strategy[s.TypeExpr]) -> Strategy[s.TypeExpr]:
    return st.one_of(
        st.builds(s.TypeName, path(name.map(_unsized)), tuples(inner, 1)),
        st.builds(s.TupleType, not_one(inner)),
        st.builds(s.FunctionType, tuples(st.tuples(st.booleans(), inner)), st.none() | inner),
    )


types: Strategy[s.TypeExpr] = st.recursive(
    st.one_of(
        st.builds(s.TypeName, path(name)),
        st.builds(s.SizedType, st.sampled_from(["bit", "signed"]), st.integers(1, 128)),
        st.builds(s.TickName, upper),
    ),
    _more_types,
    max_leaves=4,
)


# --- expressions -----------------------------------------------------------------------------------------------------

integers: Strategy[s.IntLiteral] = st.builds(
    s.IntLiteral, st.integers(0, 2**70), st.none() | st.integers(1, 128), st.booleans(), st.sampled_from([10, 16, 8, 2])
)
floats: Strategy[s.FloatLiteral] = st.builds(
    s.FloatLiteral,
    st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}([eE][+-]?[0-9]{1,2})?|[0-9]{1,3}e[0-9]{1,2}", fullmatch=True),
    st.sampled_from([None, 32, 64]),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6) | st.sampled_from(
    ["$", "${", "\\", '"', "|]", "// no", "/* no", "\n", "a\tb"]
)


def _merged(parts: list[Any]) -> tuple[Any, ...]:
    """Join neighbouring texts, as the parser does."""
    merged: list[Any] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


def strings(inner: Strategy[s.Expr]) -> Strategy[s.StringLiteral]:
    return st.builds(s.StringLiteral, st.lists(texts | inner, max_size=3).map(_merged), st.booleans())


constants = st.one_of(integers, floats, st.builds(s.BoolLiteral, st.booleans()), strings(st.nothing()))
leaves: Strategy[s.Expr] = st.one_of(
    st.builds(s.Name, path(lower)),
    st.builds(s.Construct, path(upper)),
    st.builds(s.VarDecl, lower),
    st.just(s.Wildcard()),
    constants,
    st.sampled_from([s.Break(), s.Continue(), s.Return(None)]),
)


def arguments(inner: Strategy[s.Expr], smallest: int = 0) -> Strategy[tuple[s.Argument, ...]]:
    """All positional, or all named."""
    return tuples(st.builds(s.Argument, st.none(), inner), smallest) | tuples(
        st.builds(s.Argument, lower, inner), smallest
    )


def _operations(inner: Strategy[s.Expr]) -> list[Strategy[Any]]:
    calls = tuples(inner)
    return [
        st.builds(s.Binary, st.sampled_from(list(PRECEDENCE)), inner, inner),
        st.builds(s.Binary, st.sampled_from(["<", "==", "+", "and"]), inner, inner),
        st.builds(s.Unary, st.sampled_from(["-", "~", "not", "&"]), inner),
        st.builds(s.Cast, inner, types),
        st.builds(s.Annotated, inner, types),
        st.builds(s.Try, inner),
        st.builds(s.At, lower, inner),
        st.builds(s.FieldAccess, inner, lower),
        st.builds(s.TupleAccess, inner, st.integers(0, 12)),
        st.builds(s.Slice, inner, st.integers(0, 63), st.integers(0, 63)),
        st.builds(s.Call, inner, calls),
        st.builds(s.MethodCall, inner, path(lower), calls),
        st.builds(s.VecLiteral, calls),
        st.builds(s.MapLiteral, tuples(st.tuples(inner, inner), 1)),
        st.builds(s.TupleExpr, not_one(inner)),
        st.builds(s.Construct, path(upper), arguments(inner, 1)),
        strings(inner),
    ]


def _untyped(parameter: s.Parameter) -> s.Parameter:
    return parameter if parameter.type is not None else s.Parameter(parameter.name, None)


# Filters would be simpler, but hypothesis prints the strategy that it filters, and these are very long.


def _condition(e: s.Expr) -> s.Expr:
    """An assignment is a mistake in the place of a condition."""
    while isinstance(e, s.Assign):
        e = e.value
    return e


def _closed(test: s.IfStatement) -> s.IfStatement:
    """An `else` goes to the innermost `if`."""
    return replace(test, otherwise=None) if _accepts_else(test.then) else test


def _statement_like(inner: Strategy[s.Expr]) -> list[Strategy[Any]]:
    parameter = st.builds(s.Parameter, lower | st.just("_"), st.none() | types, st.booleans()).map(_untyped)
    return [
        st.builds(s.If, inner.map(_condition), inner, st.none() | inner),
        st.builds(s.Match, inner, tuples(st.tuples(inner, inner))),
        st.builds(s.For, inner, inner, inner),
        st.builds(s.Block, tuples(inner, 1)),
        st.builds(s.Block, tuples(inner, 1).map(lambda items: (*items, s.TupleExpr(())))),
        st.builds(s.Assign, inner, inner),
        st.builds(s.Lambda, tuples(parameter), st.none() | types, inner),
        st.builds(s.Return, inner),
    ]


expressions: Strategy[s.Expr] = st.recursive(
    leaves, lambda inner: st.one_of(*_operations(inner), *_statement_like(inner)), max_leaves=7
)


def _more_patterns(inner: Strategy[s.Expr]) -> Strategy[s.Expr]:
    return st.one_of(
        st.builds(s.TupleExpr, not_one(inner)),
        st.builds(s.Construct, path(upper), arguments(inner)),
        st.builds(s.Unary, st.just("&"), inner),
        st.builds(s.At, lower, inner),
        st.builds(s.Annotated, inner, types),
    )


patterns: Strategy[s.Expr] = st.recursive(
    st.one_of(
        st.builds(s.Name, lower.map(lambda x: (x,))), st.builds(s.VarDecl, lower), st.just(s.Wildcard()), constants
    ),
    _more_patterns,
    max_leaves=4,
)


# --- rules -----------------------------------------------------------------------------------------------------------


def atoms(binding: Strategy[str | None], whole: Strategy[s.Expr] = expressions) -> Strategy[s.Atom]:
    relation = path(upper)
    versions = st.integers(0, 2), st.booleans()
    return st.one_of(
        st.builds(s.Atom, relation, arguments(expressions), st.none(), binding, st.booleans(), *versions),
        st.builds(s.Atom, relation, st.none(), whole, binding, st.booleans(), *versions),
    )


bound_atoms = atoms(st.none() | lower) | st.builds(s.Atom, path(upper), st.none(), st.none(), lower, st.booleans())
plain_atoms = atoms(st.none())
present_atoms = plain_atoms.map(lambda atom: replace(atom, delay=0, differential=False))


def _more_clauses(inner: Strategy[s.Clause]) -> Strategy[s.Clause]:
    return st.builds(s.Either, tuples(tuples(inner, 1), 2))


clauses: Strategy[s.Clause] = st.recursive(
    st.one_of(
        st.builds(s.Positive, bound_atoms),
        st.builds(s.Negative, bound_atoms),
        st.builds(s.Condition, expressions),
        st.builds(s.Condition, st.builds(s.Assign, patterns, expressions)),
        st.builds(s.FlatMap, patterns, expressions),
        st.builds(s.OldAggregate, patterns, expressions, path(lower), expressions),
        st.builds(s.Inspect, expressions),
    ),
    _more_clauses,
    max_leaves=4,
)
attributes: Strategy[s.Attributes] = tuples(st.builds(s.Attribute, name, st.none() | expressions), 0, 2)
heads = st.builds(
    s.Head,
    plain_atoms | st.builds(s.Atom, path(upper), st.none(), st.none(), st.none(), st.booleans()),
    st.none() | expressions,
)
rules: Strategy[s.RuleDef] = st.builds(s.RuleDef, tuples(heads, 1, 2), tuples(clauses), attributes)


def _more_statements(inner: Strategy[s.Statement]) -> Strategy[s.Statement]:
    loops: Any = st.builds(s.ForStatement, patterns, plain_atoms, st.none() | expressions, inner)
    tests = st.builds(s.IfStatement, expressions.map(_condition), inner, st.none() | inner).map(_closed)
    arms = tuples(st.tuples(patterns, inner))
    return st.one_of(
        loops,
        tests,
        st.builds(s.MatchStatement, expressions, arms),
        st.builds(s.VarStatement, patterns, expressions, inner),
        st.builds(s.BlockStatement, tuples(inner)),
    )


statements: Strategy[s.Statement] = st.recursive(
    st.just(s.SkipStatement()) | st.builds(s.InsertStatement, present_atoms), _more_statements, max_leaves=4
)
loops: Strategy[s.ForStatement] = st.builds(s.ForStatement, patterns, plain_atoms, st.none() | expressions, statements)


# --- declarations ----------------------------------------------------------------------------------------------------

fields = st.builds(s.FieldDecl, lower, types, attributes)
columns = st.builds(s.FieldDecl, lower, types, attributes, st.sampled_from([None, "min", "max"]))
constructors = st.builds(s.ConstructorDecl, upper, tuples(fields), attributes)
parameters = st.builds(s.Parameter, lower, types, st.booleans(), attributes)
transformed: Strategy[s.TransformerArgument] = st.one_of(
    st.builds(s.RelationArgument, name, types), st.builds(s.FunctionArgument, name, tuples(parameters), types)
)
keys = st.builds(s.PrimaryKey, lower, expressions)
roles = st.sampled_from(["input", "output", "internal"])
kinds = st.sampled_from(["relation", "multiset", "stream"])

declarations: Strategy[s.Declaration] = st.one_of(
    st.builds(s.Import, tuples(name, 1), st.none() | name, attributes),
    st.builds(s.TypeDef, name, tuples(upper), st.one_of(st.none(), types, tuples(constructors, 1)), attributes),
    st.builds(s.FunctionDef, lower, tuples(parameters), st.none() | types, st.none() | expressions, attributes),
    st.builds(
        s.RelationDef, upper, roles, tuples(columns), st.none(), st.none() | keys, st.booleans(), kinds, attributes
    ),
    st.builds(s.RelationDef, upper, roles, st.just(()), types, st.none() | keys, st.booleans(), kinds, attributes),
    st.builds(s.IndexDef, name, tuples(fields), plain_atoms, attributes),
    st.builds(s.TransformerDef, upper, tuples(transformed), tuples(transformed), attributes),
    st.builds(s.Apply, path(upper), tuples(path(name)), tuples(path(upper)), attributes),
    rules,
    st.builds(s.ImperativeRule, loops, attributes),
)
modules: Strategy[s.Module] = st.builds(s.Module, tuples(declarations, 0, 3))
