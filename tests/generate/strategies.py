"""The generators as hypothesis strategies: hypothesis plays the random generator, so failures shrink."""

from __future__ import annotations

from hypothesis import strategies as st

from tidelog.session.soak.draw.grow import grow
from tidelog.session.soak.histories import History, random_history
from tidelog.session.soak.spec import Program


def programs() -> st.SearchStrategy[Program]:
    """Random programs."""
    return st.randoms(use_true_random=False).map(grow)


def histories(length: int = 10, *, rule_changes: bool = True) -> st.SearchStrategy[History]:
    """Random histories."""
    return st.randoms(use_true_random=False).map(lambda r: random_history(r, length, rule_changes=rule_changes))
