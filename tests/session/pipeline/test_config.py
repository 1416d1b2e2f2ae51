"""Every mistake in a pipeline's file is told with its key and what was expected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tidelog import UserError
from tidelog.base.span import Source
from tidelog.session.pipeline.config import Config, Sink, read_config
from tidelog.session.pipeline.facts import check_relations
from tidelog.session.pipeline.places.local import Local
from tidelog.session.program.static import plan_source

GOOD = """
program = "network.dl"
state = "state"
library = ["lib"]
changes = "inbox"

[engine]
cores = 2
spark = { "spark.driver.memory" = "2g", "spark.ui.enabled" = false }

[[source]]
relation = "Link"
format = "csv"
path = "data/links"
options = { header = true }
columns = { a = "from" }
on_error = "quarantine"

[[source]]
relation = "Blocked"
format = "jdbc"
options = { url = "jdbc:h2:mem", dbtable = "blocked" }

[[sink]]
relation = "Reach"
format = "parquet"
path = "s3://bucket/reach"
mode = "changes"
"""


def test_a_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(GOOD)
    config = read_config(file)
    assert config.program == tmp_path / "network.dl"
    assert config.changes == tmp_path / "inbox"
    assert config.spark == {"spark.driver.memory": "2g", "spark.ui.enabled": "false"}
    link, blocked = config.sources
    assert (link.path, link.columns, link.options) == (str(tmp_path / "data/links"), {"a": "from"}, {"header": "true"})
    assert (blocked.path, blocked.on_error) == (None, "fail")
    assert (config.sinks[0].path, config.sinks[0].mode) == ("s3://bucket/reach", "changes")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('program = "network.dl"', "", "`program` is missing"),
        ('program = "network.dl"', "program = 3", "`program`: expected a text in quotes, found 3"),
        ('state = "state"', 'stat = "state"', "`stat` is not a key of a pipeline; did you mean `state`?"),
        ("cores = 2", "cores = 0", "`engine.cores`: expected a number of at least 1"),
        ("cores = 2", 'strategy = "rank"', "\"recompute\" .did you mean `ranked`.., found 'rank'"),
        ("cores = 2", "partitions = 0", "`engine.partitions`: expected a number of at least 1, found 0"),
        ("cores = 2", 'driver_rows = "few"', "`engine.driver_rows`: expected a number of at least 0, found 'few'"),
        ("cores = 2", "partition = 2", "`engine.partition` is not a key of a pipeline; did you mean `partitions`?"),
        ('mode = "changes"', 'mode = "change"', r'`sink\[1\].mode`: expected "full" or "changes"'),
        ('on_error = "quarantine"', 'on_error = "skip"', r'`source\[1\].on_error`: expected "fail" or "quarantine"'),
        ('path = "data/links"', "", r"`source\[1\].path` is missing"),
        ('columns = { a = "from" }', "columns = { a = 1 }", r"`source\[1\].columns.a`: expected the name of a column"),
        ('columns = { a = "from" }', 'column = { a = "from" }', "did you mean `columns`"),
        ("options = { header = true }", "options = []", r"`source\[1\].options`: expected a table"),
        ('relation = "Blocked"', 'relation = "Link"', "relation Link has two sources"),
        ("[[sink]]", "[sink]", r"expected tables that begin with \[\[sink\]\]"),
        ('library = ["lib"]', 'library = "lib"', "`library`: expected a list of texts"),
        ("[engine]", "[engine", "is not TOML"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    file = tmp_path / "p.toml"
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError, match=told) as found:
        read_config(file)
    assert str(file) in str(found.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*absent.toml: No such file"):
        read_config(tmp_path / "absent.toml")


PLACES = """
program = "program/network.dl"
state = "state"
library = ["lib"]
changes = "inbox"
[[source]]
relation = "Link"
format = "csv"
path = "data/links"
[[source]]
relation = "Blocked"
format = "csv"
path = "wild/day-*/blocked.csv"
[[sink]]
relation = "Other"
format = "parquet"
path = "out/other"
mode = "changes"
[[sink]]
relation = "Reach"
format = "parquet"
path = "PATH"
"""


def places(folder: Path, path: str, mode: str = "full") -> Path:
    (folder / "p.toml").write_text(PLACES.replace("PATH", path) + f'mode = "{mode}"\n')
    return folder / "p.toml"


@pytest.mark.parametrize("path", ["out/reach", "data/links2", "wild/reach.csv", "wild/a/b", "s3://b/state"])
def test_a_full_sink_with_a_place_of_its_own(tmp_path: Path, path: str) -> None:
    assert read_config(places(tmp_path, path)).sinks[1].relation == "Reach"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (".", r"contains the pipeline's file \(.*p\.toml\)"),
        ("program", r"contains the program \(.*network\.dl\)"),
        ("program/network.dl", r"is the program"),
        ("program/network.dl/out", r"is inside the program"),
        ("state", r"is the state"),
        ("state/out", r"is inside the state"),
        ("lib/out", r"is inside a library"),
        ("inbox", r"is the folder of changes"),
        ("data", r"contains the source Link"),
        ("data/links/out", r"is inside the source Link"),
        ("out/../data/links", r"is the source Link"),
        ("wild", r"contains the source Blocked"),
        ("wild/day-1/blocked.csv", r"is inside the source Blocked"),
        ("wild/day-1", r"is inside the source Blocked"),
        ("out", r"contains another sink Other"),
        ("out/other", r"is another sink Other"),
        ("out/other/reach", r"is inside another sink Other"),
        ("link/out", r"link/out is inside the state"),
        ("file://FOLDER/state", r"is the state"),
    ],
)
def test_a_full_sink_never_replaces_anything_else(tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to("state")
    file = places(tmp_path, path.replace("FOLDER", str(tmp_path)))
    with pytest.raises(UserError, match=rf"sink Reach .*: a full sink replaces all that is at its path, and .*{told}"):
        read_config(file)


def test_two_sinks_of_changes_in_one_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has the path of another sink"):
        read_config(places(tmp_path, "out/other", "changes"))
    read_config(places(tmp_path, "out/other/reach", "changes"))


@pytest.mark.parametrize("column", ["weight", "version"])
def test_columns_that_changes_have_of_their_own(tmp_path: Path, column: str) -> None:
    relations = plan_source(Source("p.dl", f"output relation R({column}: u8)"), (), None).relations
    sink = Sink("R", "csv", str(tmp_path / "out"), mode="changes")
    config = Config(tmp_path / "p.toml", tmp_path / "p.dl", Local(tmp_path / "state"), sinks=(sink,))
    with pytest.raises(UserError, match=f"changes have a column `{column}` of their own, and so has R"):
        check_relations(config, relations)
    check_relations(replace(config, sinks=(replace(sink, mode="full"),)), relations)
