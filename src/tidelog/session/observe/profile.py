"""The work of a commit as text."""

from __future__ import annotations

from tidelog.run.contract.engine import Work
from tidelog.session.changes import Commit


def show_profile(commit: Commit | None) -> str:
    """Return what each stratum did in a commit: strategy and reason, rounds, derivations and time."""
    if commit is None:
        return "Nothing has been committed."
    heading = f"Commit {commit.number}: {commit.duration * 1000:.3f} ms"
    return "\n".join([heading, *map(_line, commit.profile)])


def _line(work: Work) -> str:
    return (
        f"  {', '.join(work.relations)}: {work.strategy} ({work.reason}), {work.rounds} rounds, "
        f"{work.derivations} derivations, {work.seconds * 1000:.3f} ms"
    )
