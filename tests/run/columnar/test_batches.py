"""Batches that several threads read at a time."""

from __future__ import annotations

import numpy as np

from tidelog.base.tuning import DEFAULT
from tidelog.run.columnar.arrays import NumpyArrays, Words
from tidelog.run.columnar.batch import Batch
from tidelog.run.columnar.functions import Arrays


def test_an_order_made_while_others_ask_for_ranks_has_ranks_of_its_own() -> None:
    """Rules side by side: one makes an order of a batch whose rows have one rank, another asks for the rank of each.

    Seed 6971 of a soak: both orders had the same array of ranks, and what was written to one stood in the other.
    """
    batch = Batch(np.array([[1, 2, 3]], np.uint64), 7)

    class Meanwhile(NumpyArrays):
        def sort(self, rows: Words) -> Words:
            batch.ranks()  # by another thread
            return super().sort(rows)

    steps = np.array([[0, 0, 255, 0, 0, 8]], np.uint64)
    other = batch.reordered(steps, np.zeros((1, 1), np.uint64), Arrays(DEFAULT, Meanwhile(DEFAULT)))
    assert other.ranks().tolist() == batch.ranks().tolist() == [7, 7, 7]
    assert not np.shares_memory(other.ranks(), batch.ranks())
