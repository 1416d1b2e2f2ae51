"""The process that Spark's Python workers are forked from, with what they need loaded already.

A worker that has to import PyArrow, pandas (which PySpark asks for), NumPy and the columnar engine itself takes a second
or two before it does anything. It also looks for garbage after every task, among all objects there are: 50 ms for those
of these modules, more than most tasks of a round take. Nothing of them is ever garbage, so they are left out of it.
`session` names this module in the setting `spark.python.daemon.module` of the sessions that it starts.
"""

import gc

import pandas
import pyspark.worker
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
