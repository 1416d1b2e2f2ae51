"""The process that Spark's Python workers are forked from, with what they need loaded already.

A worker that has to import PyArrow, NumPy, pandas (PySpark does) and the columnar engine itself takes a second or two
before it does anything. After every task it looks for garbage among all objects there are, which takes 50 ms for those
of these modules, more than most tasks of a round. None of them is ever garbage, so they are left out of the search.
`session` names this module in the setting `spark.python.daemon.module` of the sessions that it starts.
"""

import gc

import pandas as pd  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import tidelog.run.columnar.kernels.emitting
import tidelog.run.columnar.kernels.rounds
import tidelog.run.columnar.kernels.sorting
import tidelog.run.spark.local
import tidelog.run.spark.spread
import tidelog.run.spark.worker  # noqa: F401

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()
