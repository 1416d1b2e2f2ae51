"""What an update is doing to a stratum, and what is kept of its tuples: the words that all engines use."""

from __future__ import annotations

from enum import Enum

from tidelog.plan.nodes import Project, Rule

Job = tuple[Rule, Project]
"""One tree of one rule to evaluate."""


class Phase(Enum):
    """What the algorithms are doing to a stratum, which decides what its scans see.

    A relation of a stratum below has changed from *before* to *after* this update; between them is *middle*, before
    without what was deleted. Under a negation the roles are exchanged: middle is before with what was inserted.

    | phase | below: old, all | below: new | own relations |
    | --- | --- | --- | --- |
    | BOOT | after | after | old: without the delta; new: with it |
    | LOSE | before | middle | as they are |
    | DELETE | middle | middle | old: with the tuples removed in this round; new: without |
    | COUNT | middle | middle | with the tuples removed in this round; the delta: doubtful tuples |
    | REDERIVE | middle | middle | what is left; the delta: all that was removed |
    | GAIN | old: middle, all: after | after | what is left |
    | INSERT | after | after | old: without the delta; new: with it |
    | RETRACT | after | after | old: with the tuples that leave in this iteration; new: without |
    | REDISCOVER | after | after | what is left; the delta: what left in this iteration |

    In LOSE the delta of a relation below is what was deleted from it, in GAIN what was inserted; under a negation these
    are exchanged. A relation that is aggregated is after in REDERIVE: a group has one result before and one after, and
    none in the middle.
    """

    BOOT = "boot"
    LOSE = "lose"
    DELETE = "delete"
    COUNT = "count"
    REDERIVE = "rederive"
    GAIN = "gain"
    INSERT = "insert"
    RETRACT = "retract"
    REDISCOVER = "rediscover"


class Support(Enum):
    """What a backend keeps of each tuple beside the tuple, which decides what a lost derivation does to its head.

    | support | kept of a tuple | a lost derivation |
    | --- | --- | --- |
    | NONE | nothing | removes its head, whether or not there are others |
    | RANKED | its rank; its derivations of lower rank, perhaps all | is taken from them; 0 of lower rank remove it |
    | FIRST | its first iteration as rank; its derivations in it | is taken from the count, if it was one of these |
    | COUNTED | 1 as rank; its nonrecursive derivations, and all | is taken from the counts; 0 nonrecursive remove it |

    Except under NONE every derivation in a bag carries the greatest rank among its body's tuples of the stratum at
    work, 0 if there is none. Under FIRST a derivation of rank r belongs to iteration r + 1. Under COUNTED those of rank
    0 are the nonrecursive ones, which use nothing of the stratum; a tuple may stand without any.
    """

    NONE = "none"
    RANKED = "ranked"
    FIRST = "first"
    COUNTED = "counted"
