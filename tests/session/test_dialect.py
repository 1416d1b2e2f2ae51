"""The dialect `ddlog`, on every engine that runs here."""

import pytest

from tidelog import Database, UserError

ENGINES = ("reference", "columnar", "tuples")
SALES = """
    input relation Sold(shop: string, item: string, price: u32)
    output relation Prices(shop: string, prices: Vec<u32>, distinct: usize, count: usize, sum: u32)
    Prices(s, g.to_vec(), g.count_distinct(), g.count(), g.sum()) :- Sold(s, item, p), var g = p.group_by(s).
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_have_an_element_for_each_way_to_bind(engine: str) -> None:
    database = Database(SALES, engine=engine, dialect="ddlog")  # type: ignore[arg-type]
    with database.transaction() as tx:
        tx.insert("Sold", [("a", "pen", 2), ("a", "ink", 2), ("a", "map", 5)])
    assert database["Prices"].rows() == [("a", (2, 2, 5), 3, 3, 9)]
    with database.transaction() as tx:
        tx.delete("Sold", [("a", "ink", 2)])
    assert database["Prices"].rows() == [("a", (2, 5), 2, 2, 7)]
    database.verify()


def test_rules_that_are_added_follow_it() -> None:
    database = Database("input relation S(x: u8, y: u8)  output relation C(n: usize)", dialect="ddlog")
    with database.transaction() as tx:
        tx.insert("S", [(1, 1), (2, 1)])
        tx.add_rules("C(n) :- S(x, y), var n = y.group_by(()).count_distinct().")
    assert database["C"].rows() == [(2,)]


@pytest.mark.parametrize(
    ("call", "otherwise", "ddlog"),
    [
        ('"${regex_match(regex("["), "a")}"', None, "false"),
        ('regex_replace(regex("["), "a", "b")', None, "a"),
        ("to_string_debug(Some{(1: u8, [2: u8])})", "Some{.x = (1, [2])}", "ddlog_std::Some{(1, [2])}"),
        ('ipv6_from_str("::1.2.3.4").unwrap_or_default().to_string()', "::102:304", "::1.2.3.4"),
        ('ipv6_from_str("::1").unwrap_or_default().to_string()', "::1", "::1"),
        ('"${asinh_f(0.5)}"', "0.4812118", "0.48121184"),
    ],
)
def test_functions_of_the_library(call: str, otherwise: str | None, ddlog: str) -> None:
    program = f"import regex  import net::ipv6  import fp  output relation T(t: string)  T({call})."
    assert Database(program, dialect="ddlog")["T"].rows() == [(ddlog,)]
    if otherwise is None:
        with pytest.raises(UserError, match="wrong pattern"):
            Database(program)
    else:
        assert Database(program)["T"].rows() == [(otherwise,)]


def test_no_other_dialect() -> None:
    with pytest.raises(UserError, match=r"there is no dialect 'prolog': there are tidelog, ddlog"):
        Database("", dialect="prolog")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_internal_relations_have_weights(engine: str) -> None:
    program = """
        input relation A(x: u8, y: u8)
        relation B(x: u8)
        B(x) :- A(x, _).
        relation C(x: u8)
        C(x) :- B(x).
        C(x) :- C(y), A(y, x).
        relation D(x: u8)
        D(x) :- B(x).
        output relation N(of: string, x: u8, n: usize)
        N("C", x, n) :- C(x), var n = x.group_by(x).count().
        N("D", x, n) :- D(x), var n = x.group_by(x).count().
    """
    facts = {"A": [(1, 1), (1, 2), (1, 3), (2, 3)]}
    sets = Database(program, engine=engine, facts=facts)  # type: ignore[arg-type]
    assert sets["N"].rows() == [("C", 1, 1), ("C", 2, 1), ("C", 3, 1), ("D", 1, 1), ("D", 2, 1)]
    database = Database(program, engine=engine, facts=facts, dialect="ddlog")  # type: ignore[arg-type]
    assert database["N"].rows() == [("C", 1, 1), ("C", 2, 1), ("C", 3, 1), ("D", 1, 3), ("D", 2, 1)], "C is recursive"
    with database.transaction() as tx:
        tx.delete("A", [(1, 2)])
    assert list(tx.result.changes["N"]) == [(("D", 1, 2), 1), (("D", 1, 3), -1)]
    database.verify()


SPANS = """
    input relation Binding(node: u8, tn: u8)
    input relation Edge(parent: u8, child: u8)
    output relation Span(node: u8, tns: Set<u8>)
    Span(n, ts) :- Binding(n, t), var ts = t.group_by(n).to_set().
    Span(p, ts) :- Edge(p, c), Span(c, below), var ts = below.group_by(p).union().
"""


def test_groups_in_recursion() -> None:
    facts = {"Binding": [(3, 1), (4, 2)], "Edge": [(1, 2), (2, 3), (2, 4), (3, 2)]}
    with pytest.raises(UserError, match="aggregate over itself"):
        Database(SPANS, engine="reference")
    with pytest.raises(UserError, match="Span is derived by a group in its own recursion, which only"):
        Database(SPANS, engine="columnar", dialect="ddlog")
    database = Database(SPANS, engine="reference", dialect="ddlog", facts=facts)
    one, two, both = frozenset((1,)), frozenset((2,)), frozenset((1, 2))
    assert set(database["Span"].raw_rows()) == {(1, both), (2, both), (3, one), (3, both), (4, two)}
    with database.transaction() as tx:
        tx.delete("Edge", [(2, 4)])
    assert set(database["Span"].raw_rows()) == {(1, one), (2, one), (3, one), (4, two)}
    with pytest.raises(UserError, match="own negation"):
        Database("relation A(x: u8)  A(x) :- A(x), not A(x).", dialect="ddlog")


def test_hashes_are_those_of_ddlog() -> None:
    program = "input relation R(x: (u64, string, bigint))  output relation H(h: u128)  H(hash128(x)) :- R(x)."
    facts = {"R": [((1, "a", 0),), ((1, "a", -5),), ((1, "a", 1 << 70),)]}
    database = Database(program, facts=facts, dialect="ddlog")
    assert len(database["H"]) == 3
    with pytest.raises(UserError, match="a value of type double has no hash like DDlog's"):
        Database("output relation H(h: u64)  H(hash64(x)) :- var x = 1.5: double.", dialect="ddlog")
