"""One family under one strategy, in a process of its own: a line of JSON for each thing done, as soon as it is.

It is given a family's name, a strategy, and `tiny` for small facts.
"""

from __future__ import annotations

import json
import math
import sys
import time
from random import Random

from benchmarks.modules.families import FAMILIES, PAPER, Family
from tidelog import Database, Fallback


def main(name: str, strategy: str, tiny: str = "") -> None:
    """Load the facts, then let some go and come back."""
    family = next(one for one in (*FAMILIES, *PAPER) if one.name == name)
    given = family.facts(bool(tiny))
    # The paper's algorithms go on to the end; the default may give an update up.
    fallback = None if strategy in ("auto", "recompute") else Fallback(math.inf)
    database = Database(family.program, strategy=strategy, fallback=fallback)  # type: ignore[arg-type]
    _told(database, "scratch", inserted=given)
    for what, count in _sizes(family, len(given[family.changed])):
        some = {family.changed: Random(what).sample(list(given[family.changed]), count)}
        _told(database, f"{what} deletion", deleted=some)
        _told(database, f"{what} insertion", inserted=some)


def _sizes(family: Family, count: int) -> list[tuple[str, int]]:
    found = [("small", min(family.small, count // 2))]
    return [*found, ("large", int(family.large * count))] if family.large else found


def _told(database: Database, what: str, **change: object) -> None:
    begun = time.process_time()
    with database.transaction() as tx:
        for act, some in change.items():
            for relation, rows in some.items():  # type: ignore[attr-defined]
                (tx.insert if act == "inserted" else tx.delete)(relation, rows)
    seconds = time.process_time() - begun
    sizes = {view.name: view.count() for view in database.relations()}
    derived = sum(work.derivations for work in tx.result.profile)
    print(json.dumps({"what": what, "seconds": seconds, "derivations": derived, "sizes": sizes}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
