"""Small texts checked with the prelude: what the tests of types and functions share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Expr, Function
from tidelog.base.extern import Externs
from tidelog.base.span import Source
from tidelog.base.text.show import show_expression
from tidelog.base.types import show
from tidelog.lang import syntax
from tidelog.lang.parse.parse import parse, parse_expression
from tidelog.logic.check.functions import Functions
from tidelog.logic.check.instantiate import instantiate
from tidelog.logic.infer.infer import BodyInference
from tidelog.logic.infer.typed_rewrite import called_functions
from tidelog.logic.names.declare import declare
from tidelog.logic.names.environment import Declarations
from tidelog.logic.names.modules import SHIPPED
from tidelog.logic.names.scope import Scope
from tidelog.logic.std.externs import EXTERNS


@cache
def prelude() -> syntax.Module:
    report = Report()
    module = parse(Source("std.dl", (Path(SHIPPED) / "std.dl").read_text(encoding="utf-8")), report)
    assert not report.diagnostics
    return module


def declared(text: str, report: Report, **modules: str) -> Declarations:
    """Declare a main module, further modules by name, and the prelude."""
    parsed: dict[syntax.Path, syntax.Module] = {(): parse(Source("main.dl", text), report)}
    for name, content in modules.items():
        parsed[tuple(name.split("__"))] = parse(Source(f"{name}.dl", content), report)
    return declare({**parsed, ("std",): prelude()}, report)


def infer(expression: str, declarations: str = "", **variables: str) -> Expr:
    """Infer an expression with rule variables of given types; there must be no diagnostic."""
    report = Report()
    found = infer_reporting(report, expression, declarations, **variables)
    assert messages(report) == []
    return found


def infer_reporting(report: Report, expression: str, declarations: str = "", **variables: str) -> Expr:
    """Infer an expression with rule variables of given types."""
    environment = declared(declarations, report).environments[()]
    inference = BodyInference(environment, report)
    scope = Scope(rule=True, returns=None)
    for name, written in variables.items():
        module = parse(Source("type", f"typedef T = {written}"), report)
        (typedef,) = module.declarations
        assert isinstance(typedef, syntax.TypeDef)
        assert typedef.body is not None
        assert not isinstance(typedef.body, tuple)
        scope.declare(name, environment.type(typedef.body, report), "rule", module.span)
    parsed = parse_expression(Source("expression", expression), report)
    assert parsed is not None, messages(report)
    return inference.finish(inference.expression(parsed, scope))


def type_of(expression: str, declarations: str = "", **variables: str) -> str:
    """Return the type of an expression, as the language writes it."""
    return show(infer(expression, declarations, **variables).type)


def elaborated(expression: str, declarations: str = "", **variables: str) -> str:
    """Return the typed form of an expression as text."""
    return show_expression(infer(expression, declarations, **variables))


def mistakes(expression: str, declarations: str = "", **variables: str) -> list[str]:
    """Return the codes and messages that an expression causes."""
    report = Report()
    infer_reporting(report, expression, declarations, **variables)
    return messages(report)


def check(text: str, externs: Externs | None = None, **modules: str) -> list[str]:
    """Check the functions of a text; return the codes and messages."""
    report = Report()
    tables = (externs, EXTERNS) if externs else (EXTERNS,)
    Functions(declared(text, report, **modules), tables, report).check()
    return messages(report)


def instances(text: str, expression: str, externs: Externs | None = None) -> dict[str, Function]:
    """Return the functions that an expression reaches, by name."""
    report = Report()
    declarations = declared(text, report)
    tables = (externs, EXTERNS) if externs else (EXTERNS,)
    functions = Functions(declarations, tables, report)
    functions.check()
    inference = BodyInference(declarations.environments[()], report)
    parsed = parse_expression(Source("expression", expression), report)
    assert parsed is not None
    found = inference.finish(inference.expression(parsed, Scope(rule=True)))
    made = dict(instantiate(functions, called_functions(found)))
    assert messages(report) == []
    return made


def messages(report: Report) -> list[str]:
    """Return each diagnostic as its code and message."""
    return [f"{d.code} {d.message}" for d in report.sorted()]
