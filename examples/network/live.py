"""A living network: each commit answers with the exact change of what it derives.

Run it from the repository's root: python examples/network/live.py
"""

from pathlib import Path

import tidelog


def main() -> None:
    """Build the network, then block a port, open it again, and take a rule away."""
    db = tidelog.Database(Path(__file__).parent / "network.dl")

    with db.transaction() as tx:
        tx.insert("Link", [("laptop", "web", 443), ("web", "app", 8080), ("app", "db", 5432)])
    show("three links", tx.result)

    with db.transaction() as tx:
        tx.insert("Blocked", [(8080,)])
    show("port 8080 is blocked", tx.result)

    with db.transaction() as tx:
        tx.delete("Blocked", [(8080,)])
    show("and open again", tx.result)

    with db.transaction() as tx:
        tx.remove_rules("hop")
    show("the rule `hop` is removed", tx.result)


def show(title: str, commit: tidelog.Commit) -> None:
    """Print what a commit changed of the output relations."""
    print(f"{commit.number}: {title}")
    for relation in ("Reach", "Exposure"):
        for row, weight in commit.changes[relation]:
            print(f"  {weight:+d} {relation}({', '.join(map(repr, row))})")


if __name__ == "__main__":
    main()
