"""Follows histories in processes, one at a time each, so that one that hangs or crashes is found by its seed.

Each process waits for a seed, follows its history, and sends what it did. A history, or a smaller one that is tried
for it, may take `Asked.seconds`; then the process writes its stack to standard error and ends, also out of a kernel.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection, wait

from tidelog.base.errors import UserError
from tidelog.session.soak.poison import poisoned, poisoning
from tidelog.session.soak.settings import Asked
from tidelog.session.soak.soak import Failure, Tally, drawn, follow_seed

SPAWNING = multiprocessing.get_context("spawn")


class Worker:
    """A process that follows histories."""

    def __init__(self, asked: Asked) -> None:
        self.connection, other = SPAWNING.Pipe()
        self._asked = asked
        self._seed = 0
        self._process = SPAWNING.Process(target=_work, args=(other, asked), daemon=True)
        self._process.start()
        other.close()

    def begin(self, seed: int) -> None:
        """Let it follow the history that a seed names."""
        self._seed = seed
        self.connection.send(seed)

    def result(self) -> tuple[Tally, Failure | None]:
        """Return what it did, or how it ended."""
        try:
            found: tuple[Tally, Failure | None] | UserError = self.connection.recv()
        except EOFError:
            return Tally(), Failure(self._seed, self._ended())
        if isinstance(found, UserError):
            raise found
        return found

    def _ended(self) -> str:
        self._process.join()
        code = self._process.exitcode
        # 1 is what `faulthandler` ends a process with.
        how = f"did not end within {self._asked.seconds:g} s" if code == 1 else f"ended the process with status {code}"
        setting = "" if self._asked.rows is not None else f"{drawn(self._seed, self._asked)[1]}\n"
        return f"{setting}the history {how}"

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()


def soak_by(
    jobs: int, histories: int, seed: int, asked: Asked, progress: Callable[[Tally], None]
) -> tuple[Tally, Failure | None]:
    """Follow histories as `soak` does, in `jobs` processes; the first that goes wrong, hangs or crashes ends it."""
    tally, seeds = Tally(), iter(range(seed, seed + histories))
    with poisoning(), ExitStack() as ending:
        busy: dict[object, Worker] = {}
        for _, first in zip(range(jobs), seeds, strict=False):
            worker = Worker(asked)
            ending.callback(worker.kill)
            worker.begin(first)
            busy[worker.connection] = worker
        while busy:
            for worker in [busy[ready] for ready in wait(busy)]:  # type: ignore[arg-type]
                found, failure = worker.result()
                tally.add(found)
                if failure is not None:
                    return tally, failure
                progress(tally)
                following = next(seeds, None)
                if following is None:
                    del busy[worker.connection]
                else:
                    worker.begin(following)
    return tally, None


def _work(connection: Connection, asked: Asked) -> None:
    """Follow the histories of the seeds that come, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with poisoned():
        gc.freeze()  # a tenth of the time went into looking for garbage in what was imported
        while True:
            try:
                seed = connection.recv()
            except EOFError:
                return
            try:
                connection.send(follow_seed(seed, asked))
            except UserError as error:
                connection.send(error)


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
