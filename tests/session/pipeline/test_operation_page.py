"""What docs/operation.md says for schedulers and clusters is tried, as far as it can be on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.run.spark.standalone.cluster import BIN, environment
from tests.shell.conftest import Tidelog, tidelog

__all__ = ["tidelog"]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/operation.md").read_text()


def block(heading: str, language: str) -> str:
    """Return the first block of a language below a heading."""
    found = re.search(rf"^## {heading}\n.*?^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The files of the page's example."""
    return Path(shutil.copytree(ROOT / "examples/turnover", tmp_path / "shop"))


class FailError(Exception):
    """Stands in for Airflow's exception."""


def test_airflow(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the DAG, with stand-ins for what it imports of Airflow."""
    ran: list[Any] = []

    def task(**options: object) -> Callable[[Any], Any]:
        assert options == {"retries": 3}
        return lambda run: lambda *given: ran.append(run(*given))

    sdk, exceptions = ModuleType("airflow.sdk"), ModuleType("airflow.exceptions")
    vars(sdk).update(dag=lambda **_: lambda made: made, task=task)
    vars(exceptions).update(AirflowFailException=FailError)
    monkeypatch.chdir(shop.parent)
    for module in (ModuleType("airflow"), sdk, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    code = compile(block("Airflow", "py"), "dag.py", "exec")
    exec(code, {})
    assert ran == [{"Sale": (2, 0), "Turnover": (2, 0)}]
    (shop / "sales" / "monday.csv").write_text("id,shop,cents\nx,north,250\n")
    (shop / "shop.toml").write_text((shop / "shop.toml").read_text().replace('"csv"', '"cvs"'))
    (shop / "shop.dl").write_text("oops")
    with pytest.raises(FailError, match="expected a declaration"):
        exec(code, {})


def test_kubernetes(shop: Path, tidelog: Tidelog) -> None:
    job = yaml.safe_load(block("Kubernetes", "yaml"))
    spec = job["spec"]["jobTemplate"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    (rule,) = spec["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"] == {"containerName": container["name"], "operator": "NotIn", "values": [75]}
    command = [part.replace("/pipeline", str(shop)) for part in container["command"]]
    assert tidelog(*command[1:]).status == 0
    mounted = {one["name"] for one in spec["template"]["spec"]["volumes"]}
    assert {one["name"] for one in container["volumeMounts"]} == mounted


@pytest.mark.spark
@pytest.mark.long(reason="a process of Java")
@pytest.mark.timeout(300)
def test_spark_submit(shop: Path) -> None:
    (shop / "job.py").write_text(block("spark-submit", "py"))
    (shop / "shop.toml").write_text((shop / "shop.toml").read_text() + "[engine]\ndriver_rows = 0\npartitions = 1\n")
    small = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    options = [part for name, value in small.items() for part in ("--conf", f"{name}={value}")]
    command = [
        str(BIN / "spark-submit"),
        "--master",
        "local[1]",
        *options,
        str(shop / "job.py"),
        str(shop / "shop.toml"),
    ]
    around = environment(shop)
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **around}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "1 spark {'Sale': (2, 0), 'Turnover': (2, 0)}"
