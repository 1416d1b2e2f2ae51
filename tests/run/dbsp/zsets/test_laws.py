"""The laws of DBSP (Budiu et al., "DBSP: Automatic Incremental View Maintenance"), on random streams of Z-sets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from tests.run.dbsp.generate import LENGTH, PAIRS, nested, same, same_nested, streams, zsets
from tidelog.run.dbsp.zsets.stream import (
    Integers,
    Stream,
    Streams,
    ZSets,
    delay,
    differentiate,
    eliminate,
    fix,
    incremental,
    incremental_bilinear,
    incremental_distinct,
    integrate,
    introduce,
    lift,
)
from tidelog.run.dbsp.zsets.zset import ZSet

Query = Callable[[Stream[ZSet]], Stream[ZSet]]


def composed(a: ZSet, b: ZSet) -> ZSet:
    """A join, as the example of a bilinear function."""
    return a.join(b, on=[(1, 0)], keep=[0, 3])


def swapped(a: ZSet) -> ZSet:
    """A projection, as the example of a linear function."""
    return a.project([1, 0])


LINEAR: Query = lift(swapped, PAIRS)
DISTINCT: Query = lift(ZSet.distinct, PAIRS)


@given(zsets(), zsets(), zsets())
def test_zsets_are_an_abelian_group(a: ZSet, b: ZSet, c: ZSet) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + ZSet.zero(2) == a
    assert a + -a == ZSet.zero(2)
    assert a - b == a + -b
    assert a * 3 == a + a + a


@given(zsets(), zsets(), zsets())
def test_projection_and_selection_are_linear_and_joins_bilinear(a: ZSet, b: ZSet, c: ZSet) -> None:
    assert swapped(a + b) == swapped(a) + swapped(b)
    assert (a + b).select(lambda row: row[0] < row[1]) == sum(
        (z.select(lambda row: row[0] < row[1]) for z in (a, b)), start=ZSet.zero(2)
    )
    assert composed(a + b, c) == composed(a, c) + composed(b, c)
    assert composed(c, a + b) == composed(c, a) + composed(c, b)


@settings(max_examples=30)
@given(streams(), streams())
def test_differentiation_and_integration_are_inverse_and_linear(s: Stream[ZSet], r: Stream[ZSet]) -> None:
    assert same(differentiate(integrate(s)), s)
    assert same(integrate(differentiate(s)), s)
    for operator in (delay, integrate, differentiate):
        assert same(operator(s + r), operator(s) + operator(r))


@settings(max_examples=30)
@given(streams())
def test_delay_commutes_with_what_does_not_look_at_the_clock(s: Stream[ZSet]) -> None:
    for query in (LINEAR, DISTINCT, integrate, differentiate):
        assert same(query(delay(s)), delay(query(s)))


@settings(max_examples=30)
@given(streams())
def test_linear_operators_are_their_own_incremental_form(s: Stream[ZSet]) -> None:
    assert same(incremental(LINEAR)(s), LINEAR(s))
    assert same(incremental(delay)(s), delay(s))
    assert same(incremental(integrate)(s), integrate(s))


@settings(max_examples=30)
@given(streams(), streams())
def test_the_incremental_form_of_a_bilinear_operator(a: Stream[ZSet], b: Stream[ZSet]) -> None:
    assert same(incremental(lift(composed, PAIRS))(a, b), incremental_bilinear(composed, PAIRS)(a, b))


@settings(max_examples=15)
@given(nested(), nested())
def test_the_doubly_incremental_join(a: Stream[Stream[ZSet]], b: Stream[Stream[ZSet]]) -> None:
    group = Streams(PAIRS)
    inner = incremental_bilinear(composed, PAIRS)
    doubly = incremental_bilinear(inner, group)
    definition = incremental(lift(incremental(lift(composed, PAIRS)), group))
    assert same_nested(doubly(a, b), definition(a, b))


@settings(max_examples=30)
@given(streams())
def test_the_incremental_form_of_distinct(s: Stream[ZSet]) -> None:
    assert same(incremental(DISTINCT)(s), incremental_distinct(s))


@settings(max_examples=30)
@given(streams())
def test_the_chain_rule(s: Stream[ZSet]) -> None:
    for first in (LINEAR, DISTINCT, delay):
        for second in (LINEAR, DISTINCT, integrate):

            def both(x: Stream[ZSet], first: Query = first, second: Query = second) -> Stream[ZSet]:
                return second(first(x))

            assert same(incremental(both)(s), incremental(second)(incremental(first)(s)))


@settings(max_examples=30)
@given(streams(), streams())
def test_the_rule_of_sums(s: Stream[ZSet], r: Stream[ZSet]) -> None:
    both = incremental(lambda a, b: DISTINCT(a) + LINEAR(b))
    assert same(both(s, r), incremental(DISTINCT)(s) + LINEAR(r))


@settings(max_examples=30)
@given(streams())
def test_the_cycle_rule(s: Stream[ZSet]) -> None:
    """The incremental form of a cycle is the cycle of the incremental forms: (fix a. T(s, z^-1 a))^Delta."""
    body = lift(lambda x, y: (x + composed(x, y)).distinct(), PAIRS)

    def cycle(x: Stream[ZSet]) -> Stream[ZSet]:
        return fix(lambda a: body(x, a), PAIRS)

    assert same(incremental(cycle)(s), fix(lambda a: incremental(body)(s, a), PAIRS))


@given(zsets(), zsets(positive=True), zsets(positive=True))
def test_laws_of_distinct(a: ZSet, b: ZSet, c: ZSet) -> None:
    assert a.distinct().distinct() == a.distinct()
    assert a.distinct().to_diff() == a.distinct()
    assert set(a.to_diff().weights.tolist()) <= {-1, 1}
    # On positive Z-sets an inner distinct is lost in an outer one.
    assert swapped(b.distinct()).distinct() == swapped(b).distinct()
    assert (b.distinct() + c.distinct()).distinct() == (b + c).distinct()
    assert composed(b.distinct(), c.distinct()).distinct() == composed(b, c).distinct()
    assert b.distinct().select(lambda row: row[0] > 0) == b.select(lambda row: row[0] > 0).distinct()


@given(zsets(), streams())
def test_introduction_and_elimination(a: ZSet, s: Stream[ZSet]) -> None:
    assert eliminate(introduce(a, PAIRS)) == a
    assert same(lift(eliminate, PAIRS)(lift(lambda z: introduce(z, PAIRS), Streams(PAIRS))(s)), s)
    # Both are linear, and take away the difference of time: the integral of D is the last value.
    assert same(differentiate(integrate(introduce(a, PAIRS))), introduce(a, PAIRS))


@settings(max_examples=15)
@given(nested())
def test_nested_streams_are_integrated_in_both_directions(s: Stream[Stream[ZSet]]) -> None:
    group = Streams(PAIRS)
    both_ways = integrate(lift(integrate, group)(s))
    assert same_nested(both_ways, lift(integrate, group)(integrate(s)))
    t, u = LENGTH, LENGTH - 1
    total = ZSet.zero(2)
    for i in range(t + 1):
        for j in range(u + 1):
            total += s[i][j]
    assert both_ways[t][u] == total


def test_streams_of_integers() -> None:
    fibonacci = fix(
        lambda s: s + delay(s) + introduce(1, Integers()),
        Integers(),
    )
    assert fibonacci.take(8) == [1, 1, 2, 3, 5, 8, 13, 21]


def test_a_cycle_needs_a_delay() -> None:
    looped: list[Stream[int]] = []
    looped.append(Stream(Integers(), lambda t: looped[0][t] + 1))
    with pytest.raises(ValueError, match="a cycle needs a delay"):
        looped[0][0]


def test_a_stream_without_an_end_has_no_integral() -> None:
    with pytest.raises(ValueError, match="no 0"):
        eliminate(Stream(Integers(), lambda t: 1))


def test_a_group_of_streams_cannot_tell_zero() -> None:
    with pytest.raises(TypeError, match="cannot be found out"):
        Streams(ZSets(1)).is_zero(Streams(ZSets(1)).zero())
