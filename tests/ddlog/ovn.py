"""OVN's northd as a database: its own sources, the relations of its schemas, and what it has in Rust in Python.

`python -m tests.ddlog.ovn PORTS` says what adding a port costs where there are that many.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import tidelog
from tests.ddlog.network import Network
from tests.ddlog.ovn_externs import externs
from tests.ddlog.ovsdb import Options, declarations
from tests.ddlog.sources import OVN

PROGRAM = OVN / "northd" / "ovn_northd.dl"
SCHEMAS = {"nb": "OVN_Northbound", "sb": "OVN_Southbound"}


def northd(folder: Path, **options: Any) -> tidelog.Database:
    """Return a database of northd, whose generated modules are written to a folder."""
    for name, module in SCHEMAS.items():
        schema = (OVN / f"ovn-{name}.ovsschema").read_text()
        made = declarations(schema, Options.read((OVN / "northd" / f"ovn-{name}.dlopts").read_text()))
        (folder / f"{module}.dl").write_text(made)
    return tidelog.Database(PROGRAM, library=[folder], externs=externs, **options)


def _measure(ports: int) -> None:
    """Print what it takes to add a port and to remove it, by the strata that take most."""
    import tempfile  # noqa: PLC0415  (only here)

    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        database = northd(Path(folder))
        print(f"ready in {time.process_time() - start:.2f} s")  # noqa: T201
        network = Network(database)
        network.begin(max(3, ports // 100), min(ports // 3, 100))
        for _ in range(3):  # what the program computes goes back to its tables, until nothing changes
            _commit(database, network)
            network.write_back(database)
        times = []
        for number in range(8):
            network.port(next(iter(network.switches)), addresses=[f"0a:01:00:00:00:{number:02x} 10.8.0.{number}"])
            seconds, commit = _commit(database, network)
            times.append(seconds)
            flows = commit.changes["OVN_Southbound::Out_Logical_Flow"].sizes
        print(f"a port more: median {1e3 * statistics.median(times):.1f} ms, flows changed {flows}")  # noqa: T201
        for work in sorted(commit.profile, key=lambda one: -one.seconds)[:12]:
            names = ", ".join(work.relations)
            print(f"  {1e3 * work.seconds:6.1f} ms {work.strategy}, {work.derivations} derivations: {names}")  # noqa: T201


def _commit(database: tidelog.Database, network: Network) -> tuple[float, tidelog.Commit]:
    transaction = database.transaction().begin()
    network.write(transaction)
    start = time.process_time()
    commit = transaction.commit()
    return time.process_time() - start, commit


if __name__ == "__main__":
    _measure(int(sys.argv[1]))
