"""One run of a pipeline in a folder; killed, where wanted, before it commits or right after.

    python -m tests.run.spark.faults.driver FOLDER nothing|before|after

`before`: all is computed and the sinks are written, the version is not. `after`: the version is there, but Spark has
not noted that the batch is done, so that it delivers it again.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Outcome, Pipeline
from tidelog.session.pipeline.state.versions import StateFolder, Version


def die(*_: object) -> None:
    """End as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(commit: Callable[..., Version], when: str) -> Callable[..., Version]:
    """Return a commit that kills the process before or after a batch's version is made."""

    def attempt(state: StateFolder, version: Version) -> Version:
        if version.batch is None:
            return commit(state, version)
        if when == "before":
            die()
        made = commit(state, version)
        if when == "after":
            die()
        return made

    return attempt


def tell(outcome: Outcome) -> None:
    """Say which version was made, or was there."""
    version, known = outcome.version, "fresh" if outcome.fresh else "known"
    sys.stdout.write(f"version {version.number} {version.reason} {known}\n")


if __name__ == "__main__":
    folder, moment = Path(sys.argv[1]), sys.argv[2]
    StateFolder.commit = dying(StateFolder.commit, moment)  # type: ignore[method-assign]
    with Pipeline(read_config(folder / "pipeline.toml")) as pipeline:
        pipeline.watch(folder / "inbox", tell, once=True)
