"""DuckDB's lane: a recursive common table expression over tables read from a folder of facts.

python -m benchmarks.race_duckdb PROGRAM FOLDER THREADS
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb


def main() -> None:
    program, folder, threads = sys.argv[1:]
    database = duckdb.connect(config={"threads": int(threads)})
    wall = time.perf_counter()
    for path in sorted(Path(folder).glob("*.facts")):
        with path.open() as file:
            width = file.readline().count("\t") + 1
        columns = "{" + ", ".join(f"'{'abcdefgh'[i]}': 'INTEGER'" for i in range(width)) + "}"
        reading = f"read_csv('{path}', delim='\t', header=false, columns={columns})"
        database.execute(f"create table {path.stem} as select distinct * from {reading}")
    load = time.perf_counter() - wall
    wall, cpu = time.perf_counter(), time.process_time()
    sizes = dict(database.execute(Path(program).read_text()).fetchall())
    taken = {"evaluate": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps({**taken, "load": load, "sizes": sizes}))


if __name__ == "__main__":
    main()
