"""The environment says from how many rows on kernels are used."""

import pytest

from tidelog.run.compiling import compile_at


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDELOG_COMPILE_AT", raising=False)
    assert compile_at(30) == 30
    monkeypatch.setenv("TIDELOG_COMPILE_AT", "0")
    assert compile_at(30) == 0
    monkeypatch.setenv("TIDELOG_COMPILE_AT", "never")
    with pytest.raises(ValueError, match="TIDELOG_COMPILE_AT should be a number of rows, and is 'never'"):
        compile_at(30)
