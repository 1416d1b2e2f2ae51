"""Bits of a word: how many are set, and which is the lowest, by the processor's own instructions."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _make_ones(context, word):  # type: ignore[no-untyped-def]  # noqa: ARG001  (as numba calls it)
    """Return the number of bits of a word that are set."""

    def make(context, builder, signature, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return builder.ctpop(values[0])

    return types.int64(types.uint64), make


def _make_lowest(context, word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return the number of the lowest bit of a word that is set."""

    def make(context, builder, signature, values):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return builder.cttz(values[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), make


ones: Any = intrinsic(_make_ones)
lowest: Any = intrinsic(_make_lowest)
