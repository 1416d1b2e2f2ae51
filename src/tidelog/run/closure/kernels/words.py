"""Bits of a word: how many are set, and which is the lowest, by the processor's own instructions."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _make_ones(_context: Any, _word: Any) -> Any:
    """Return the number of bits of a word that are set."""

    def make(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return types.int64(types.uint64), make


def _make_lowest(_context: Any, _word: Any) -> Any:
    """Return the number of the lowest bit of a word that is set."""

    def make(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), make


ones: Any = intrinsic(_make_ones)
lowest: Any = intrinsic(_make_lowest)
