"""DDlog's own scripts print what its command line printed."""

import pytest

from tests.ddlog.scripts import Script, scripts

DIFFERENT: dict[str, str] = {}
"""Scripts that do not, and what they need."""


@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.name)
def test_a_script_prints_the_same(script: Script) -> None:
    printed, mistakes = script.run()
    if script.name in DIFFERENT:
        assert printed != script.expected, f"{script.name} prints the same now"
    else:
        assert (printed, mistakes) == (script.expected, "")
