"""Databases on every engine that runs in process."""

from typing import Any

import pytest

from tests.engines import IN_PROCESS
from tests.session.graph import GRAPH, Open
from tidelog import Database


@pytest.fixture(params=IN_PROCESS)
def opened(request: pytest.FixtureRequest) -> Open:
    def make(program: str = GRAPH, **options: Any) -> Database:
        return Database(program, engine=request.param, **options)

    return make


@pytest.fixture
def db(opened: Open) -> Database:
    return opened()
