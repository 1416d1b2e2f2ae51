"""The functions of a program: bodies checked once, generic ones too; externs bound to Python.

`Functions` is made after `declare`. `check` reports the mistakes of all functions of the program's own modules; the
library's bodies are checked when something calls them. `instantiate` then makes what rules call.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.expr import Expr, Parameter
from tidelog.base.extern import Extern, Externs
from tidelog.base.record import record
from tidelog.base.types import TypeSizeError
from tidelog.logic.infer.infer import BodyInference
from tidelog.logic.infer.typed_rewrite import called_functions
from tidelog.logic.names.environment import Declarations, Signature
from tidelog.logic.names.externs import check_extern
from tidelog.logic.names.scope import Origin, Scope


@record
class CheckedFunction:
    """A function with its typed body, over its type variables, or with its Python callable."""

    signature: Signature
    parameters: tuple[Parameter, ...]
    body: Expr | None
    extern: Extern | None
    calls: tuple[str, ...]
    """The names of the instances it calls, over its type variables."""


class Functions:
    """The functions of a program; `externs` are searched in order for the callables of extern functions."""

    def __init__(self, declarations: Declarations, externs: Sequence[Externs], report: Report) -> None:
        self.declarations = declarations
        self.externs = externs
        self.report = report
        self._checked: dict[Signature, CheckedFunction] = {}

    def check(self) -> None:
        """Check all functions of the program's own modules."""
        own: list[Signature] = []
        for path_, table in self.declarations.tables.items():
            if path_ not in self.declarations.library:
                for name in table.functions:
                    own += self.declarations.signatures(table, name)
        for signature in own:
            self.checked(signature)

    def checked(self, signature: Signature) -> CheckedFunction:
        """Return a function with its body checked."""
        found = self._checked.get(signature)
        if found is None:
            is_extern = signature.definition.body is None
            found = self._extern(signature) if is_extern else self._with_body(signature)
            self._checked[signature] = found
        return found

    def _with_body(self, signature: Signature) -> CheckedFunction:
        assert signature.definition.body is not None
        inference = BodyInference(signature.environment, self.report, frozenset(signature.type_variables))
        scope = Scope(returns=signature.result)
        parameters: list[Parameter] = []
        for parameter, written in zip(signature.parameters, signature.definition.parameters, strict=True):
            origin: Origin = "mutable" if parameter.mutable else "parameter"
            unique = inference.declare(parameter.name, parameter.type, origin, scope, written.span)
            parameters.append(Parameter(unique, parameter.type, parameter.mutable))
        why = f"`{signature.definition.name}` returns `{types.show(signature.result)}`"
        body = inference.expression(signature.definition.body, scope, signature.result, why)
        try:
            body = inference.finish(body)
        except TypeSizeError:
            body = inference.too_large(signature.definition.span)
        return CheckedFunction(signature, tuple(parameters), body, None, tuple(called_functions(body)))

    def _extern(self, signature: Signature) -> CheckedFunction:
        extern = next((table[signature.name] for table in self.externs if signature.name in table), None)
        check_extern(signature, extern, self.externs, self.report)
        return CheckedFunction(signature, signature.parameters, None, extern, ())
