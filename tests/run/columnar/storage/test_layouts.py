"""Relations whose codes outgrow their layout: what is there, and what is on its way, is packed anew and stays right."""

from __future__ import annotations

from tidelog import Database

WIDE = -(2**63) - 1


def test_a_code_that_was_never_asked_for_survives() -> None:
    # Found by `tidelog soak`, seed 166: 3 fitted the spare room of D3a, so no range that was admitted covered it.
    db = Database(
        """
        input relation A(x: bit<8>)
        output relation D(c: bigint, d: bit<8>)
        output relation E(c: bigint, d: bit<8>)
        E(0, x) :- A(x).
        D(c, d) :- E(c, _), E(_, d).
        E(c, d), D(c, 3) :- D(c, d).
        """
    )
    with db.transaction() as tx:
        tx.insert("A", [(4,)])
    assert {*db.relation("D").rows()} == {(0, 3), (0, 4)}
    with db.transaction() as tx:
        tx.add_rules(f"D({WIDE}, 4).")
    assert {*tx.result.changes["D"]} == {((WIDE, 3), 1), ((WIDE, 4), 1)}
    assert {*db.relation("D").rows()} == {(0, 3), (0, 4), (WIDE, 3), (WIDE, 4)}
    db.verify()


def test_bags_of_two_layouts_meet() -> None:
    db = Database(
        """
        input relation A(x: bigint, y: bit<8>)
        input relation B(x: bigint, y: bit<8>)
        output relation C(x: bigint, y: bit<8>)
        C(x, y) :- A(x, y).
        C(x, y) :- B(x, y).
        """
    )
    with db.transaction() as tx:
        tx.insert("A", [(0, 200)])
    with db.transaction() as tx:
        tx.insert("A", [(1, 7)])
        tx.insert("B", [(WIDE, 200), (2**64, 201)])
    assert {*db.relation("C").rows()} == {(0, 200), (1, 7), (WIDE, 200), (2**64, 201)}
    with db.transaction() as tx:
        tx.delete("B", [(WIDE, 200)])
        tx.delete("A", [(1, 7)])
    assert {*db.relation("C").rows()} == {(0, 200), (2**64, 201)}
    db.verify()


def test_groups_before_and_after_a_change_are_compared_in_one_layout() -> None:
    # Found by `tidelog soak`, seed 3000456: room made for the results after left those before where they were.
    db = Database(
        """
        input relation A(x: double, y: bit<8>)
        input relation B(x: bit<8>)
        output relation D(c: bit<8>)
        D(n) :- B(i), A(r, _), var n = i.group_by(r).count() as bit<8>.
        """
    )
    with db.transaction() as tx:
        tx.insert("A", [(-1e-300, 3)])
        tx.insert("B", [(0,), (1,), (3,), (4,)])
    with db.transaction() as tx:
        tx.insert("A", [(-0.5, 1)])
    with db.transaction() as tx:
        tx.insert("A", [(-1e-300, 0)])
    assert db.relation("D").rows() == [(4,), (8,)]
    with db.transaction() as tx:
        tx.insert("A", [(-0.5, 0), (-1e-300, 4)])
        tx.delete("A", [(-1e-300, 3)])
    assert [*tx.result.changes["D"]] == [((4,), -1)]
    db.verify()
