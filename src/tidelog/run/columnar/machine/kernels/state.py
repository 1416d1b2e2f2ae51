"""What the interpreter works on, by name: a program with the batches that it sees, recent tuples, and a workbench."""

from __future__ import annotations

from typing import NamedTuple

from tidelog.run.kernel_types import Layers, Lines, Places, Rows, Tables


class Code(NamedTuple):
    """The program of a stratum in a phase, the batches that its instructions see, and the relations of the stratum.

    What stands where in a line is in `operands`.
    """

    variants: Lines
    steps: Lines
    fields: Rows
    batches: Lines
    members: Lines
    orders: Lines
    moves: Rows


class Recent(NamedTuple):
    """Tuples of each member that came in these rounds, in order of their coming: the delta is the end of them."""

    rows: Tables
    ranks: Lines
    support: Lines
    every: Lines
    sorted: Tables
    """In each order, sorted, with their places in `rows` as the last word."""
    begun: Places
    """Where the delta of each member begins."""
    end: Places
    """Where its tuples end."""


class Derivations(NamedTuple):
    """Heads, the ranks of their bodies, the members that they belong to, and how often each occurs."""

    rows: Rows
    ranks: Places
    members: Places
    times: Places


class Lookup(NamedTuple):
    """Room to look rows of one member up: the rows, their numbers, and the batch and place of each."""

    keys: Rows
    these: Places
    batches: Places
    places: Places
    low: Places


class Registers(NamedTuple):
    """Values of variables, a line for each binding, before an instruction and after it; and room to search for them."""

    left: Rows
    right: Rows
    left_rank: Places
    right_rank: Places
    choice: Places
    """The variant that each tuple of the delta takes."""
    keys: Rows
    low: Places
    key_of: Places
    """The key of each binding, -1 if there is none."""
    met: Places
    """Whether a binding has met a row that excludes it."""
    last: Places
    """The last key of each bucket."""


class Bench(NamedTuple):
    """Memory to work in. What it holds before a call means nothing, but that each derivation is made once."""

    derived: Derivations
    batches: Places
    """The batch that has each head, or -1, and its place there."""
    places: Places
    lookup: Lookup
    registers: Registers
    where: Layers
    """Where each recent tuple stands in each order: batch and place."""
    buckets: Places
    """A hash table of recent tuples."""
    row: Rows
    before: Places
    """How many recent tuples of each member there were before a round."""
    window: Lines
    """Bounds of the tuples that are looked at, for each member, where that is not the delta."""


class Bounds(NamedTuple):
    """When to go back to Python, and thresholds."""

    rounds: int
    work: int
    """Rows visited, or words moved, about."""
    derivations: int
    """Of one round."""
    alone: int
    """Of more bindings equal keys are searched once."""
    insertion: int
    """Up to this many rows are sorted by insertion."""


class Log(NamedTuple):
    """What was overwritten: address, bytes, and value. And the answer of a call, which says how much of it there is."""

    lines: Lines
    answer: Places
