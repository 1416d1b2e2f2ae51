"""DDlog's own scripts print what its command line printed, but for those that need what is not there."""

import pytest

from tests.ddlog.scripts import Script, scripts

DIFFERENT = {
    "hashset_test": "the order of Rust's hash table, in 14 lines",
    "json_test": "the order of Rust's hash table, serde's words for mistakes, maps from arrays",
    "lb_reflective": "relations of the program as values, which DDlog's compiler writes rules for",
    "time_test": "times and their mistakes as texts of Rust's crate chrono",
    "vec_test": "the text of closures",
}
"""Scripts that do not, and what they need."""


@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.name)
def test_a_script_prints_the_same(script: Script) -> None:
    printed, _ = script.run()
    if script.name in DIFFERENT:
        assert printed != script.expected, f"{script.name} prints the same now"
    else:
        assert printed == script.expected
