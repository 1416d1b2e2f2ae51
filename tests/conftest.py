"""Settings shared by all tests: poison in fresh arrays, and how hard hypothesis looks.

``dev`` (the default) looks for new examples in every run, ``ci`` tries the same ones every time, ``soak`` tries many.
Choose with the environment variable HYPOTHESIS_PROFILE; scripts/test takes ``ci``.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tidelog.session.soak.poison import poisoned

# No deadline: the first call of a kernel compiles it. A program is slow to draw, so that health check would only nag.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, database=None, max_examples=100, print_blob=True
)
settings.register_profile("soak", settings.get_profile("dev"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a mark that leaves a test out of `scripts/test --quick` without saying what takes so long."""
    for item in items:
        for mark in item.iter_markers("long"):
            if not (set(mark.kwargs) == {"reason"} and mark.kwargs["reason"]):
                raise pytest.UsageError(f"{item.nodeid}: the mark is written `long(reason=...)`")


@pytest.fixture(scope="session", autouse=True)
def poison() -> Iterator[None]:
    """Fill arrays that nobody has written yet with a value that no row has, in all tests."""
    with poisoned():
        yield
