"""The process that Spark's Python workers are forked from, with what they need loaded already.

A worker that has to import PyArrow, NumPy, pandas (PySpark does) and the columnar engine itself takes a second or two
before it does anything, and half a second more to load the kernels' compiled code. After every task it looks for
garbage among all objects there are, which takes 50 ms for those of these modules, more than most tasks of a round. None
of them is ever garbage, so they are left out of the search. `session` names this module in the setting
`spark.python.daemon.module` of the sessions that it starts.
"""

from __future__ import annotations

import gc

import pandas as pd  # noqa: F401
import pyspark.worker  # noqa: F401
from numba.core.dispatcher import Dispatcher
from pyspark.daemon import manager

from tidelog.run.columnar.kernels import emitting, narrow, sorting, words
from tidelog.run.columnar.machine.kernels import rounds
from tidelog.run.kernel_cache import kept_signatures


def load_kernels() -> int:
    """Load the code of kernels that were compiled on this machine before; return how many there are.

    Numba does so itself, but only when a kernel is called.
    """
    found = 0
    for module in (emitting, narrow, rounds, sorting, words):
        for kernel in vars(module).values():
            if isinstance(kernel, Dispatcher):
                for signature in kept_signatures(kernel):
                    kernel.compile(signature)
                    found += 1
    return found


if __name__ == "__main__":
    load_kernels()
    gc.collect()
    gc.freeze()
    manager()
