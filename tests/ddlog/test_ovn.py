"""OVN's northd runs as it is, and every relation follows what happens to a network, as evaluation from scratch says."""

from pathlib import Path

import pytest

from tests.ddlog.network import Network
from tests.ddlog.ovn import PROGRAM, northd
from tidelog import Database

pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason="OVN's sources are not on this machine"),
    pytest.mark.long(reason="two evaluations of 627 rules in each transaction"),
]
TRANSACTIONS = 50


@pytest.mark.timeout(900)
def test_three_switches_with_ten_ports(tmp_path: Path) -> None:
    database, reference = northd(tmp_path), northd(tmp_path, engine="reference")
    network = Network(database)
    network.begin(switches=3, ports=10)
    filled = set[str]()
    for number in range(TRANSACTIONS):
        for each in (database, reference):
            changed = set(network.changed)
            with each.transaction() as tx:
                network.write(tx)
            network.changed = changed
        network.changed.clear()
        found, expected = rows(database), rows(reference)
        different = [name for name in expected if found[name] != expected[name]]
        assert not different, f"transaction {number}: {different}"
        filled |= {name for name, there in found.items() if there}
        if number % 2 == 0:
            network.write_back(database)
        for _ in range(network.random.randrange(1, 4)):
            network.act()
    assert len(filled) > 200, "most relations have had rows"


def rows(database: Database) -> dict[str, set[tuple[object, ...]]]:
    return {view.name: set(view.raw_rows()) for view in database.relations()}
