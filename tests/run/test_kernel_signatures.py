"""Each kernel is compiled once: for the types that its annotations say, whatever programs and literals there are."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from random import Random
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

import tidelog.run
from tests.generate.checking import follow
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.kernel_cache import signatures_of
from tidelog.session.soak.histories import random_history

COMPILED = DEFAULT.having({"compiling.rows": 0, "compiling.edges": 0})


def kernels() -> dict[str, Any]:
    """Return every kernel and part of one, by its name."""
    packages = pkgutil.walk_packages(tidelog.run.__path__, "tidelog.run.")
    modules = [import_module(package.name) for package in packages if ".kernels" in package.name]
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__}": value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }


KERNELS = kernels()


@pytest.mark.parametrize("name", KERNELS)
def test_annotations_say_the_types(name: str) -> None:
    assert signatures_of(KERNELS[name])


def test_nothing_else_is_compiled() -> None:
    def make(plan: Plan) -> ColumnarEngine:
        return ColumnarEngine(plan, tuning=COMPILED)

    for seed in range(6):
        follow(random_history(Random(seed), 3), make)
    used = {name: set(one.overloads) for name, one in KERNELS.items() if one.overloads}
    assert len(used) > 10
    for name, found in used.items():
        assert found <= set(signatures_of(KERNELS[name])), name
