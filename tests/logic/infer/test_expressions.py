"""The types that inference finds, and what it makes of expressions."""

from typing import get_args

import pytest

from tests.logic.small_programs import elaborated, infer, mistakes, type_of
from tidelog.base.expr import Const, Operate
from tidelog.lang import syntax
from tidelog.logic.infer.infer import FORMS

POINT = "typedef Point = Point{x: signed<32>, y: signed<32>}\n"
SHAPE = "typedef Shape = Circle{name: string, r: double} | Square{a: double, name: string}\n"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1", "bigint"),
        ("-1", "bigint"),
        ("1.5", "double"),
        ("8'd3", "bit<8>"),
        ("16'sd3", "signed<16>"),
        ("32'f1.0", "float"),
        ("b + 1", "bit<8>"),
        ("1 + b", "bit<8>"),
        ("b << 3", "bit<8>"),
        ("f * 2.0", "float"),
        ('b == 3 and s != "a"', "bool"),
        ("b[6:2]", "bit<5>"),
        ("b ++ b[0:0]", "bit<9>"),
        ("s ++ b ++ 1.5", "string"),
        ('"${b} and ${1}"', "string"),
        ("b as signed<64>", "signed<64>"),
        ("(b, [b], (s))", "(bit<8>, Vec<bit<8>>, string)"),
        ("[1 -> s, b -> s]", "Map<bit<8>, string>"),
        ("Some{b}", "Option<bit<8>>"),
        ("if (b > 3) None else Some{s}", "Option<string>"),
        ("match (Some{b}) { None -> 0, Some{x} -> x }", "bit<8>"),
        ("[s].len()", "bit<64>"),
        ("len(s)", "bit<64>"),
        ("|x| x + b", "function(bit<8>): bit<8>"),
        ("(|x: bit<8>, y|: string y)(b, s)", "string"),
        ("{ var v = vec_empty(); v.push(b); v }", "Vec<bit<8>>"),
        ("{ var n = 0; for (x in [b]) { n = n + x }; n }", "bit<8>"),
        ("(s, b).1", "bit<8>"),
        ("&s", "Ref<string>"),
        ('i"a"', "Intern<string>"),
        ("s.parse_dec_u64().unwrap_or(0)", "bit<64>"),
        ("Some{b}.map(|x| (x, s))", "Option<(bit<8>, string)>"),
        ("(1: bit<4>)", "bit<4>"),
        ("()", "()"),
    ],
)
def test_type(expression: str, expected: str) -> None:
    assert type_of(expression, b="bit<8>", s="string", f="float") == expected


def test_literal_takes_its_type_from_what_comes_later() -> None:
    assert type_of("{ var x = 1; var y: bit<16> = x; y }") == "bit<16>"


def test_overload_waits_for_the_type_of_its_argument() -> None:
    assert type_of("{ var v = vec_empty(); var n = v.nth(0).unwrap_or(1); v.push(8'd2); n }") == "bit<8>"


def test_field_waits_for_the_type_of_what_has_it() -> None:
    text = "{ var f = |p| p.x; f(Point{1, 2}) }"
    assert type_of(text, POINT) == "signed<32>"


def test_negative_literal_is_one_constant() -> None:
    assert infer("-1") == Const(-1, infer("1").type)


def test_float_literal_is_rounded_to_its_type() -> None:
    sum_ = infer("f + 0.1", f="float")
    assert isinstance(sum_, Operate)
    assert sum_.operands[1] == Const(0.10000000149011612, sum_.type)


def test_fields_that_all_constructors_have_are_read_at_each_position() -> None:
    assert type_of("s.name", SHAPE, s="Shape") == "string"
    assert infer("s.name", SHAPE, s="Shape").positions == (0, 1)  # type: ignore[union-attr]


def test_fields_are_read_through_references() -> None:
    assert type_of("r.x", POINT, r="Ref<Intern<Point>>") == "signed<32>"


def test_method_call_is_a_call() -> None:
    assert infer("s.len()", s="string") == infer("len(s)", s="string")


def test_variable_does_not_hide_a_method() -> None:
    assert type_of("s.len() + len", s="string", len="bit<64>") == "bit<64>"


def test_a_variable_of_function_type_is_called() -> None:
    assert elaborated("f(1)", f="function(bit<8>): bool") == "f(1)"
    assert type_of("len(1)", len="function(bit<8>): bool") == "bool"


def test_overloads_differ_by_number_and_types_of_arguments() -> None:
    text = """
        function f(x: bit<8>): bool = true
        function f(x: string): string = x
        function f(x: string, y: string): (string, string) = (x, y)
        function f(x: Vec<'A>): 'A = default()
    """
    assert type_of("f(8'd1)", text) == "bool"
    assert type_of('f("a")', text) == "string"
    assert type_of('f("a", "b")', text) == "(string, string)"
    assert type_of('f(["a"])', text) == "string"


def test_more_special_overload_is_taken() -> None:
    text = """
        function f(x: 'A): bool = true
        function f(x: Vec<'A>): string = ""
        function f(x: Vec<bit<8>>): double = 1.0
    """
    assert type_of("f(1)", text) == "bool"
    assert type_of('f(["a"])', text) == "string"
    assert type_of("f([8'd1])", text) == "double"


def test_own_function_comes_before_an_equal_one_of_the_prelude() -> None:
    assert elaborated("s.len()", "function len(s: string): bit<64> = 0", s="string") == "len(s)"


def test_sibling_scopes_get_different_names() -> None:
    text = elaborated(
        "(match (o) { Some{x} -> x, None -> 1 }) + (match (o) { Some{x} -> x, None -> 2 })", o="Option<u8>"
    )
    assert "x#2" in text


def test_lambda_parameter_may_hide_a_variable() -> None:
    assert type_of("(|s| s + 1)(8'd1)", s="string") == "bit<8>"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("b + s", ["E0301 expected `bit<8>`, found `string`"]),
        ("nothing + nothing", ["E0201 unknown variable `nothing`", "E0201 unknown variable `nothing`"]),
        ("nothing.field.len().third", ["E0201 unknown variable `nothing`"]),
        ("nope(s).len() + 1", ["E0201 unknown function `nope`"]),
        ("match (nope(1)) { Some{x} -> x, None -> 0 }", ["E0201 unknown function `nope`"]),
        ("[nope(1)].nth(0)", ["E0201 unknown function `nope`"]),
        ("if (nope(1)) s else b", ["E0201 unknown function `nope`", "E0301 expected `string`, found `bit<8>`"]),
        ("s.len(1, 2)", ["E0501 `len` takes 1 argument, not 3"]),
        ("{ var v = []; v }", ["E0306 cannot tell the type of this expression"]),
        ("b + 256", ["E0309 `256` does not fit `bit<8>`"]),
        ("{ var x = 300; x == b }", ["E0309 `300` does not fit `bit<8>`"]),
        ("return s", ["E0316 `return` outside a function"]),
    ],
)
def test_one_mistake_gives_one_diagnostic(expression: str, expected: list[str]) -> None:
    assert mistakes(expression, b="bit<8>", s="string") == expected


def test_every_form_of_expression_is_inferred() -> None:
    assert set(FORMS) == set(get_args(syntax.Expr))
