"""One process at a time makes versions, on this machine and in a store that has no locks."""

from __future__ import annotations

import pytest

from tests.session.pipeline.memory import Memory
from tidelog import UserError
from tidelog.base.errors import BusyError
from tidelog.session.pipeline.places.lease import PATIENCE, held


def test_the_later_one_gives_way() -> None:
    store = Memory()
    with held(store) as overtaken:
        assert not overtaken
        store.now += PATIENCE - 1
        with (
            pytest.raises(BusyError, match=r"in use by another run of the pipeline, which said so 59 s ago"),
            held(store),
        ):
            pass
        assert len(store.content) == 1
    assert not store.content


def test_a_claim_that_nobody_renews_counts_for_nothing() -> None:
    store = Memory()
    store.write("claims/dead", b"")
    store.now += PATIENCE
    with held(store) as overtaken:
        assert overtaken
        assert "claims/dead" not in store.content
    with held(store) as overtaken:
        assert not overtaken


def test_of_two_that_begin_at_once_one_goes_on() -> None:
    store = Memory()
    store.write("claims/0", b"")  # the same second: the name decides
    with pytest.raises(UserError, match="another run"), held(store):
        pass
    store.remove("claims/0")
    store.write("claims/z", b"")
    with held(store):
        assert "claims/z" in store.content  # which gives way itself
