"""The process that Spark's Python workers are forked from, with what they need loaded already.

A worker that has to import PyArrow, NumPy and the columnar engine itself takes a second or two before it does anything.
`session` names this module in the setting `spark.python.daemon.module` of the sessions that it starts.
"""

from pyspark.daemon import manager

import tidelog.run.columnar.kernels.emitting
import tidelog.run.columnar.kernels.rounds
import tidelog.run.columnar.kernels.sorting
import tidelog.run.spark.local
import tidelog.run.spark.spread
import tidelog.run.spark.worker  # noqa: F401

if __name__ == "__main__":
    manager()
