"""`python -m tests.generate.shrink 7 20 columnar` shows the smallest failing history found for seed 7 with 20 steps.

Histories are checked against brute force here; `tidelog soak` checks them against the reference engine.
"""

from __future__ import annotations

import sys
from importlib import import_module
from random import Random

from tests.generate.checking import follow
from tidelog.base.errors import ProgramError
from tidelog.session.soak.histories import History, random_history
from tidelog.session.soak.shrink import show, shrink


def main() -> None:
    """Shrink the history of a seed on an engine."""
    seed, length, engine = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    make = getattr(import_module(f"tidelog.run.{engine}.engine"), f"{engine.capitalize()}Engine")
    failure: list[BaseException] = []

    def fails(history: History) -> bool:
        try:
            follow(history, make)
        except ProgramError:
            return False  # the smaller program is not a program
        except Exception as error:  # noqa: BLE001  # any failure is worth shrinking
            failure[:] = [error]
            return True
        return False

    history = random_history(Random(seed), length)
    if not fails(history):
        sys.stdout.write("does not fail\n")
        return
    small = shrink(history, fails)
    fails(small)
    sys.stdout.write(f"{show(small)}\n{type(failure[0]).__name__}: {str(failure[0]).partition(' after step')[0]}\n")


if __name__ == "__main__":
    main()
