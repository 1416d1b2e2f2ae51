"""Loading: rows of two integers from CSV and from Parquet into a database, beside reading the same file with pyarrow.

Each in a process of its own (`python -m benchmarks.loading pyarrow|tidelog FOLDER`), the best of three. pyarrow reads
with its default settings, which use all cores, and hands out a table. Tidelog reads, checks and sorts the rows into a
relation without rules. The goal is at most twice pyarrow's time.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.batch import Settings
from benchmarks.measure import CHECKOUT, measure
from benchmarks.tables import megabytes, ratio, seconds, table

PROGRAM = "input relation Pair(a: u32, b: u32)\n"
REPEATS = 3


def run_loading(rows: int, settings: Settings) -> list[str]:
    """Measure both formats, print a table, and return what is wrong."""
    shown: list[tuple[str, ...]] = []
    results: list[dict[str, Any]] = []
    mistakes: list[str] = []
    for form in ("csv", "parquet"):
        folder = settings.work / "loading" / f"{form}-{rows}"
        times: dict[str, dict[str, Any]] = {}
        _child(["make", str(folder), form, str(rows)], settings)
        for reader in ("pyarrow", "tidelog"):
            found = _child([reader, str(folder)], settings)
            times[reader] = found
            results.append({"format": form, "reader": reader, **found})
            if found.get("rows") != rows:
                mistakes.append(
                    f"{reader} read {found.get('rows')} rows from {form}, not {rows}; {found.get('errors')}"
                )
        if mistakes:
            break
        base = times["pyarrow"]
        for reader, found in times.items():
            shown.append(
                (
                    f"{form} {reader}",
                    seconds(found["wall"]),
                    ratio(found["wall"] / base["wall"]),
                    seconds(found["cpu"]),
                    ratio(found["cpu"] / base["cpu"]),
                    megabytes(found["memory"]),
                )
            )
    print(f"\n== loading {rows:,} rows of two integers")
    print(table(("reader", "time", "ratio", "cpu", "cpu ratio", "memory"), shown), flush=True)
    if settings.json is not None:
        settings.json.write_text(json.dumps(results, indent=1))
    return mistakes


def _child(arguments: list[str], settings: Settings) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.loading", *arguments]
    run = measure(command, settings.bounds, CHECKOUT)
    if run.status != "ok":
        return {"rows": None, "errors": f"{run.status} {run.errors[-1000:]}"}
    return {**json.loads(run.output or "{}"), "memory": run.memory}


def _make(folder: Path, form: str, rows: int) -> None:
    import numpy as np  # noqa: PLC0415  (only in the child)
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import csv, parquet  # noqa: PLC0415

    path = folder / f"Pair.{form}"
    if path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    # Distinct rows in random order: the second column is a permutation.
    rng = np.random.default_rng(4)
    columns = {"a": rng.integers(0, rows, rows, dtype=np.uint32), "b": rng.permutation(rows).astype(np.uint32)}
    unfinished = path.with_suffix(".unfinished")
    if form == "csv":
        with unfinished.open("wb") as file:
            file.write(b"a,b\n")  # Arrow would quote the header
            csv.write_csv(pa.table(columns), file, csv.WriteOptions(include_header=False))
    else:
        parquet.write_table(pa.table(columns), unfinished)
    unfinished.rename(path)


def _read_with_pyarrow(path: Path) -> int:
    from pyarrow import csv, parquet  # noqa: PLC0415

    found = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return int(found.num_rows)


def _read_with_tidelog(path: Path) -> int:
    from tidelog import Database  # noqa: PLC0415
    from tidelog.session.exchange import load_facts  # noqa: PLC0415

    database = Database(PROGRAM, strategy="recompute")
    load_facts(database, path.parent)
    return database.relation("Pair").count()


def main() -> None:
    what, folder, *more = sys.argv[1:]
    if what == "make":
        _make(Path(folder), more[0], int(more[1]))
        return
    (path,) = Path(folder).iterdir()
    read = _read_with_pyarrow if what == "pyarrow" else _read_with_tidelog
    walls, cpus, rows = [], [], 0
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        rows = read(path)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    print(json.dumps({"rows": rows, "wall": min(walls), "cpu": min(cpus), "first": walls[0]}))


if __name__ == "__main__":
    main()
