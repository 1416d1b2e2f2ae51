"""Batches that several threads read at a time, and bags whose rows are in an order of their own."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Bit
from tidelog.run.columnar.arrays.table import NumpyArrays, Words
from tidelog.run.columnar.functions import Arrays, usual
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import Range, place
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import gather


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


def test_rows_in_the_order_of_another_column_are_sorted_again() -> None:
    """A large map of bits has the column first that changes least: its rows, in order, are not in the relation's.

    Seed 21750 of a soak, under `elastic`: tuples were there twice. In use from a million tuples and matches on.
    """
    relation = Relation("r", [Bit(8), Bit(8)], usual)
    turned = place([(1, Range(0, 255)), (0, Range(0, 255))])
    columns: dict[Hashable, Words] = {0: np.array([9, 3, 5], np.uint64), 1: np.array([1, 2, 3], np.uint64)}
    bags = [Bag(turned, turned.pack(columns, 3), ordered=True) for _ in range(2)]
    found = gather(relation, bags)
    assert relation.layout.codes(found.rows, 0).tolist() == [3, 3, 5, 5, 9, 9]
