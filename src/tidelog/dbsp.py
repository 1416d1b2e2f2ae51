"""DBSP as a library: Z-sets, streams, and circuits that follow changes. See docs/dbsp.md.

* `ZSet`, `IndexedZSet`: rows with integer weights, in sorted columns; `Values` numbers the values in them.
* `Circuit`, `Wire`, `Loop`: incremental operators connected by wires; `to_dot` and `to_mermaid` draw them.
* `Dyre`: Datalog as such a circuit, whose rules change like its facts; `Rule` and `Fact`, which `read` makes of text.
* `Stream` and its operators: the same by definition, slow, for looking at and for laws.
"""

from __future__ import annotations

from tidelog.run.dbsp.circuits.circuit import Circuit, Loop, Wire
from tidelog.run.dbsp.circuits.draw import to_dot, to_mermaid
from tidelog.run.dbsp.dyre import Dyre
from tidelog.run.dbsp.terms import Atom, Fact, Rule, Var, read
from tidelog.run.dbsp.zsets.indexed import IndexedZSet
from tidelog.run.dbsp.zsets.stream import (
    Group,
    Integers,
    Stream,
    Streams,
    ZSets,
    delay,
    differentiate,
    eliminate,
    fix,
    incremental,
    incremental_bilinear,
    incremental_distinct,
    integrate,
    introduce,
    lift,
)
from tidelog.run.dbsp.zsets.values import Values
from tidelog.run.dbsp.zsets.zset import ZSet

__all__ = [
    "Atom",
    "Circuit",
    "Dyre",
    "Fact",
    "Group",
    "IndexedZSet",
    "Integers",
    "Loop",
    "Rule",
    "Stream",
    "Streams",
    "Values",
    "Var",
    "Wire",
    "ZSet",
    "ZSets",
    "delay",
    "differentiate",
    "eliminate",
    "fix",
    "incremental",
    "incremental_bilinear",
    "incremental_distinct",
    "integrate",
    "introduce",
    "lift",
    "read",
    "to_dot",
    "to_mermaid",
]
