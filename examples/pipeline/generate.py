"""Make a network for the pipeline, and a day of changes to it: python generate.py FOLDER [HOSTS].

Hosts stand in tiers, and links lead to hosts of the next tier, so that reachability is wide, but no host reaches all.
The same call always makes the same network.
"""

import csv
import json
import random
import sys
from itertools import pairwise
from pathlib import Path

ZONES = ("internet", "guest", "office", "service", "vault")
DENY = (("internet", "vault"), ("guest", "vault"), ("guest", "service"), ("internet", "office"))
TIERS = 6
LINKS = 6


def main(folder: Path, hosts: int = 900) -> None:
    """Write data/ and day/ below the folder."""
    chance = random.Random(17)  # noqa: S311  (a network to look at, no secret)
    names = [f"h{number:04d}" for number in range(hosts)]
    zones = {name: chance.choices(ZONES, (2, 2, 4, 4, 1))[0] for name in names}
    tiers = [names[start : start + hosts // TIERS] for start in range(0, hosts, hosts // TIERS)]
    links = {(a, chance.choice(below)) for tier, below in pairwise(tiers) for a in tier for _ in range(LINKS)}
    write_csv(folder / "data" / "hosts.csv", ("name", "zone"), sorted(zones.items()))
    write_csv(folder / "data" / "deny.csv", ("source", "target"), DENY)
    lines = [json.dumps({"from": a, "to": b}) for a, b in sorted(links)]
    (folder / "data" / "links").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "links" / "all.jsonl").write_text("\n".join(lines) + "\n")

    gone = chance.sample(sorted(links), 10)
    new = [(chance.choice(tier), chance.choice(below)) for tier, below in pairwise(tiers) for _ in range(2)]
    rows = [("delete", a, b) for a, b in gone] + [("insert", a, b) for a, b in new]
    write_csv(folder / "day" / "Link.csv", ("op", "from", "to"), rows)


def write_csv(path: Path, header: tuple[str, ...], rows: object) -> None:
    """Write a file with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])  # type: ignore[misc]


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
