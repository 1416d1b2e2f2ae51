"""What the process has loaded that Python workers are forked from."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from tidelog.run.columnar.kernels.sorting import survey

LOADED = """
from tidelog.run.columnar.kernels.sorting import survey
from tidelog.run.spark.cluster.daemon import load_kernels
before = len(survey.signatures)
print(before, load_kernels() > 0, len(survey.signatures) > 0)
"""


def test_kernels_are_loaded_before_they_are_called() -> None:
    survey(np.arange(3, dtype=np.uint64))  # so that there is compiled code of it
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "0 True True\n"
