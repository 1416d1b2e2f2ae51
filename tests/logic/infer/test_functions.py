"""Functions: bodies, statements, instances, externs."""

import pytest

from tests.logic.small_programs import check, instances
from tidelog.base.extern import Externs
from tidelog.base.text.show import show_expression
from tidelog.base.types import Bit, String, show


@pytest.mark.parametrize(
    "text",
    [
        "function f(x: 'A, y: 'A): bool = x < y",
        "function f(x: bit<8>): bit<8> { if (x > 3) { return 3 }; x }",
        "function f(x: bit<8>): bit<8> { if (x > 3) { return 3 } else { return x }; }",
        "function f(x: Option<bit<8>>): bit<8> = match (x) { Some{y} -> y, None -> return 0 }",
        "function f(v: Vec<bit<8>>): bit<8> { for (x in v) { if (x == 3) { break } else { continue } }; 0 }",
        "function f(x: mut bit<8>) { x = x + 1 }\nfunction g(): bit<8> { var y = 1; f(y); y }",
        'function f(p: mut (bit<8>, string)) { p.0 = 1; p.1 = "a" }',
        "function f(a: bit<8>, b: bit<8>): bit<8> { var x = a; var y = b; (x, y) = (y, x); x }",
        'function f(a: (bit<8>, (bool, string))): string { (var x, (_, var y)) = a; "${x}${y}" }',
        "function f(): bit<8> { var x: bit<8>; x = 3; x }",
        "function f(m: Map<string, bit<8>>): bit<8> { var s = 0; for ((k, v) in m) { s = s + v }; s }",
        "function f(g: Group<string, bit<8>>): signed<64> { var n = 0; for ((v, w) in g) { n = n + w }; n }",
        'function f(x: Option<bit<8>>): Option<string> = Some{"${x? + 1}"}',
        "function f(x: Result<bit<8>, string>): Result<bool, string> = Ok{x? > 1}",
        "function f(g: function(bit<8>): bit<8>): bit<8> = g(1)\nfunction h(): bit<8> = f(|x| x + 1)",
        "function twice(x: bit<8>): bit<8> = 2 * x\nfunction h(): Option<bit<8>> = Some{1}.map(twice)",
        """
            typedef L = Nil | Cons{head: bit<8>, tail: Ref<L>}
            function f(l: L): bit<8> = match (l) { Nil -> 0, Cons{h, &Nil} -> h, Cons{_, &Cons{h, _}} -> h }
        """,
        "typedef T = T{a: bit<8>}\nfunction f(t: mut T) { t.a = t.a + 1 }",
        'function f(x: \'A): string = "${x}"',
    ],
)
def test_accepted(text: str) -> None:
    assert check(text) == []


def test_result_of_a_block_that_always_returns_is_any_type() -> None:
    text = "function f(x: bool): bit<8> { match (x) { true -> { return 1 }, false -> { return 2 } } }"
    assert check(text) == []


def test_generic_body_is_checked_without_being_called() -> None:
    assert check("function f(x: 'A): 'A = x + 1") == ["E0310 `+` needs numbers, found `'A`"]


def test_functions_may_call_themselves_through_others_and_lambdas() -> None:
    text = """
        function a(x: bit<8>): bit<8> = Some{x}.map(|y| b(y)).unwrap_or(0)
        function b(x: bit<8>): bit<8> = Some{x}.map(a).unwrap_or(0)
    """
    assert check(text) == []


def test_instances_are_named_after_their_types() -> None:
    text = "function pair(x: 'A, y: 'B): ('A, Vec<'B>) = (x, single(y))\nfunction single(x: 'X): Vec<'X> = [x]"
    made = instances(text, 'pair(8\'d1, "a")')
    assert list(made) == ["pair<bit<8>, string>", "single<string>"]
    pair = made["pair<bit<8>, string>"]
    assert [p.type for p in pair.parameters] == [Bit(8), String()]
    assert show(pair.result) == "(bit<8>, Vec<string>)"
    assert pair.body is not None
    assert "single<string>(y)" in show_expression(pair.body)


def test_overloads_have_different_names() -> None:
    text = 'function f(x: bit<8>): bool = f("a")\nfunction f(x: string): bool = true'
    assert list(instances(text, "f(8'd1)")) == ["f(bit<8>)", "f(string)"]


def test_only_what_is_called_is_instantiated() -> None:
    assert list(instances("function f(): bool = true\nfunction g(): bool = f()", "f()")) == ["f"]


def test_text_of_a_generic_value_uses_the_function_of_its_type() -> None:
    text = """
        typedef P = P{x: bit<8>}
        function to_string(p: P): string = "P${p.x}"
        function shown(x: 'A): string = "<${x}>"
    """
    made = instances(text, 'shown(P{1}) ++ shown(1) ++ shown("a")')
    assert list(made)[:2] == ["shown<P>", "to_string"]
    own, number, string = (made[f"shown<{t}>"].body for t in ("P", "bigint", "string"))
    assert own is not None
    assert number is not None
    assert string is not None
    assert "to_string(x)" in show_expression(own)
    assert show_expression(string).count("string") == 0


def test_extern_functions_carry_their_callable() -> None:
    externs = Externs()
    externs.register("twice", "function('X): 'X", typed=True)(lambda types, x: 2 * x)
    made = instances("extern function twice(x: 'A): 'A", "twice(8'd1)", externs)
    twice = made["twice<bit<8>>"]
    assert twice.typed
    assert not twice.trusted
    assert twice.python is externs["twice"].python


@pytest.mark.parametrize(
    ("signature", "fits"),
    [
        (None, True),
        ("function(string): Vec<string>", True),
        ("|string|: Vec<string>", True),
        ("function(string): Vec<'A>", False),
        ("function(mut string): Vec<string>", False),
    ],
)
def test_registered_type_is_compared(signature: str | None, fits: bool) -> None:
    externs = Externs()
    externs.register("f", signature)(lambda s: ())
    found = check("extern function f(s: string): Vec<string>", externs)
    assert found == ([] if fits else ["E0511 extern function `f` is registered with another type"])
