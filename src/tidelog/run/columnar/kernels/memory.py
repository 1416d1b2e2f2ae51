"""Reading and writing numbers at addresses.

A batch is known by its address, since a call sees any number of them, and a kernel takes no list of arrays without
making one for each call.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

ALIVE = 0
"""The mark of a row that holds."""


def _reader(kind: Any) -> Any:
    """Return a function that reads a number of some type at an address."""

    def read(_typing: Any, _address: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(kind).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], pointer))

        return kind(types.int64), code

    return intrinsic(read)


def _writer(kind: Any) -> Any:
    """Return a function that writes a number of some type at an address."""

    def write(_typing: Any, _address: Any, _value: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = context.get_value_type(kind).as_pointer()
            builder.store(arguments[1], builder.inttoptr(arguments[0], pointer))
            return context.get_dummy_value()

        return types.void(types.int64, kind), code

    return intrinsic(write)


read_word, read_rank, read_mark, read_count = (
    _reader(kind) for kind in (types.uint64, types.int32, types.uint8, types.int64)
)
put_rank, put_mark, put_count = (_writer(kind) for kind in (types.int32, types.uint8, types.int64))
