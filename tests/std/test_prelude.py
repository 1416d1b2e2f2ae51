"""What the functions of the prelude give, through the whole pipeline."""

from __future__ import annotations

import pytest

from tests.generate.pipeline import reference_answers
from tests.std.evaluating import evaluate
from tidelog.base.errors import EvaluationError

CASES = {
    "numbers": {
        "min(3: u8, 5)": "3",
        'max("a", "b")': '"b"',
        "min(None, Some{1: u8})": "None{}",
        "pow32(2: u32, 32)": "0",
        "pow32(2: u64, 32)": "4294967296",
        "pow32(-3: s8, 5)": "13",
        "pow32(-2: s8, 7)": "-128",
        "pow32(10: bigint, 20)": "100000000000000000000",
        "pow32(1.5: double, 2)": "2.25",
        "hex(255: u8)": '"ff"',
        "hex(-1: s16)": '"ffff"',
        "hex(-255: bigint)": '"-ff"',
        "range_vec(10: s64, 15, 2)": "[10, 12, 14]",
        "range_vec(15: s64, 10, -2)": "[15, 13, 11]",
        "range_vec(1: u8, 5, 0)": "[]",
        'parse_dec_u64("42")': "Some{.x = 42}",
        'parse_dec_u64("-42")': "None{}",
        'parse_dec_u64("18446744073709551616")': "None{}",
        'parse_dec_u64(" 1")': "None{}",
        'parse_dec_i64("-42")': "Some{.x = -42}",
        'parse_dec_i64("")': "None{}",
        "ntohs(16'h1234)": "13330",
        "htonl(32'h12345678) == 32'h78563412": "true",
    },
    "any type": {
        "default(): bool": "false",
        "default(): (string, Vec<u8>, Option<u8>)": '("", [], None{})',
        "default(): Result<u8, string>": "Ok{.res = 0}",
        "default(): Map<u8, Set<u8>>": "[]",
        "default(): double": "0",
        "default(): Ref<string>": '""',
        "hash64(1: u8) == hash64(1: u8)": "true",
        'hash32((1: u8, "a")) == hash32((1: u8, "b"))': "false",
        'hash64("tide")': "1610817256751702704",
        "hash128([1: u8, 2])": "216306875610200198441076518129936024890",
        'to_string_debug(Some{"a"})': '"Some{.x = \\"a\\"}"',
        "to_string(3: u8) ++ to_string(true) ++ to_string(1.5: double)": '"3true1.5"',
    },
    "strings": {
        'len("naïve")': "5",
        '"tide".contains("id")': "true",
        '"tide".starts_with("ti") and "tide".ends_with("de")': "true",
        'substr("tidelog", 2, 4)': '"de"',
        'substr("tide", 3, 100)': '"e"',
        'substr("tide", 3, 1)': '""',
        'replace("aXbX", "X", "-")': '"a-b-"',
        'split("a,b,", ",")': '["a", "b", ""]',
        'split("ab", "")': '["", "a", "b", ""]',
        'join(["a", "b"], ", ")': '"a, b"',
        'trim("  a ")': '"a"',
        '"Tide".to_lowercase() ++ "Tide".to_uppercase() ++ str_to_lower("A")': '"tideTIDEa"',
        'reverse("abc")': '"cba"',
        'to_bytes("é")': "[195, 169]",
        "from_utf8([195, 169])": 'Ok{.res = "é"}',
        "from_utf8([195]).is_err()": "true",
        'encode_utf16("a😀")': "[97, 55357, 56832]",
        "from_utf16([97, 55357, 56832])": 'Ok{.res = "a😀"}',
        "from_utf16([55357]).is_err()": "true",
    },
    "options and results": {
        "is_none(None: Option<u8>)": "true",
        "Some{1: u8}.is_some()": "true",
        "Some{1: u8}.map(|x| x + 1)": "Some{.x = 2}",
        "Some{1: u8}.and_then(|x| if (x > 1) Some{x} else None)": "None{}",
        "(None: Option<u8>).unwrap_or(7)": "7",
        "(None: Option<string>).unwrap_or_default()": '""',
        'Some{1: u8}.ok_or("none")': "Ok{.res = 1}",
        '(None: Option<u8>).ok_or_else(|| "none")': 'Err{.err = "none"}',
        "Some{1: u8}.to_vec()": "[1]",
        "(None: Option<u8>).to_set()": "[]",
        "is_ok(Ok{1}: Result<u8, string>)": "true",
        '(Err{"e"}: Result<u8, string>).unwrap_or(3)': "3",
        '(Err{"e"}: Result<u8, string>).map_err(|e| e.len())': "Err{.err = 1}",
        "(Ok{1}: Result<u8, string>).map(|x| x + 1)": "Ok{.res = 2}",
        '(Err{"e"}: Result<u8, string>).unwrap_or_default()': "0",
        "deref(ref_new(5: u8))": "5",
        'ival(intern("a")) ++ to_string(i"b")': '"ab"',
    },
    "vectors": {
        "vec_with_length(3, true)": "[true, true, true]",
        "[1: u8, 2].len() + vec_len([3: u8])": "3",
        "(vec_empty(): Vec<u8>).is_empty()": "true",
        "[1: u8, 2].contains(2)": "true",
        "[1: u8, 2].nth(1)": "Some{.x = 2}",
        "[1: u8, 2].nth(2)": "None{}",
        "{var v = [1: u8]; v.push(2); v.append([3, 4]); v}": "[1, 2, 3, 4]",
        "{var v = [1: u8, 2]; var x = v.pop(); (v, x)}": "([1], Some{.x = 2})",
        "{var v: Vec<u8> = []; (v.pop(), v)}": "(None{}, [])",
        "[3: u8, 1, 2].sort_imm()": "[1, 2, 3]",
        "{var v = [3: u8, 1, 2]; v.sort(); v.reverse(); v}": "[3, 2, 1]",
        "[1: u8, 2].reverse_imm().push_imm(9)": "[2, 1, 9]",
        "{var v = [1: u8]; v.resize(3, 7); v.truncate(2); v}": "[1, 7]",
        "{var v = [1: u8, 2]; var x: u8 = 9; var b = v.swap_nth(0, x); (v, x, b)}": "([9, 2], 1, true)",
        "{var v = [1: u8]; (v.update_nth(3, 5), v)}": "(false, [1])",
        '["a", "b"].zip([1: u8])': '[("a", 1)]',
        '[("a", 1: u8), ("b", 2)].unzip()': '(["a", "b"], [1, 2])',
        '[(1: u8, "a"), (1, "b")].to_map()': '[(1, "b")]',
        "[2: u8, 1, 2].to_set()": "[1, 2]",
    },
    "sets and maps": {
        "[1: u8, 2].to_set().size()": "2",
        "{var s: Set<u8> = set_empty(); s.insert(2); s.insert(1); s.nth(0)}": "Some{.x = 1}",
        "set_singleton(1: u8).insert_imm(3).to_vec()": "[1, 3]",
        "[1: u8, 2].to_set().union([3].to_set())": "[1, 2, 3]",
        "unions([set_singleton(1: u8), set_singleton(2)])": "[1, 2]",
        "[1: u8, 2].to_set().intersection([2, 3].to_set())": "[2]",
        "[1: u8, 2].to_set().difference([2, 3].to_set()).contains(2)": "false",
        "[1: u8 -> true].size()": "1",
        "[1: u8 -> true].get(2)": "None{}",
        "[1: u8 -> true].contains_key(1)": "true",
        "{var m = [2: u8 -> true]; m.insert(1, false); m.insert(2, false); m}": "[(1, false), (2, false)]",
        "{var m = [2: u8 -> true]; var x = m.remove(2); (m.is_empty(), x)}": "(true, Some{.x = true})",
        "[1: u8 -> true].insert_imm(0, false).keys()": "[0, 1]",
        "[1: u8 -> true].union([1 -> false]).values()": "[false]",
        "[1: u8 -> true].nth_key(0)": "Some{.x = 1}",
        "[1: u8 -> true].nth_value(7)": "None{}",
    },
}


@pytest.mark.parametrize("topic", CASES)
def test_functions(topic: str) -> None:
    expressions, expected = list(CASES[topic]), list(CASES[topic].values())
    assert dict(zip(expressions, evaluate(expressions), strict=True)) == dict(zip(expressions, expected, strict=True))


def test_misuse_names_the_function() -> None:
    with pytest.raises(
        EvaluationError, match=r"hex.*raised TypeError: hex needs an integer, not a value of type string"
    ):
        evaluate(['hex("a")'])
    with pytest.raises(EvaluationError, match="has no default value"):
        evaluate(["default(): Group<u8, u8>"])


@pytest.mark.parametrize(
    "expression",
    [
        "pow32(3: bigint, 32'hffffffff)",
        "range_vec(0: u64, 64'hffffffffffffffff, 1)",
        "vec_with_length(64'hffffffffffff, true)",
        "{var v = [true]; v.resize(64'hffffffffffff, true); v}",
        "(1: bigint) << 32'hffffffff",
    ],
)
def test_a_slip_does_not_take_all_memory(expression: str) -> None:
    with pytest.raises(EvaluationError, match="more than 67108864"):
        evaluate([expression])


GROUPS = """
typedef Item = Item{k: string, n: s8, x: double, s: Set<u8>}
relation R(i: u8, item: Item)
R(1, Item{"a", 100, 0.5, [1].to_set()}).
R(2, Item{"a", 100, 0.5, [1].to_set()}).
R(3, Item{"a", -3, 1e300, [2, 3].to_set()}).
R(4, Item{"b", 7, 2.5, set_empty()}).
output relation O(i: string, v: string)
"""
AGGREGATES = {
    "item.n: count": ("count()", "3 1"),
    "item.n: count_distinct": ("count_distinct()", "2 1"),
    "item.n: sum": ("sum()", "-59 7"),
    "item.n: mean": ("mean()", "65.66666666666667 7"),
    "item.n: collect": ("collect()", "[-3, 100, 100] [7]"),
    "item.n: min": ("min()", "-3 7"),
    "item.n: max": ("max()", "100 7"),
    "item.n: first": ("first()", "-3 7"),
    "item.n: nth": ("nth(1)", "Some{.x = 100} None{}"),
    "item.n: key": ("key()", '"a" "b"'),
    "item.n: to_vec": ("to_vec()", "[-3, 100] [7]"),
    "item.n: to_set": ("to_set()", "[-3, 100] [7]"),
    "item.n: arg_min": ("arg_min(|n| -n)", "100 7"),
    "item.n: arg_max": ("arg_max(|n| if (n < 0) { 50 } else { n / 10 })", "-3 7"),
    "item.x: sum": ("sum()", "1e+300 2.5"),
    "item.x: mean": ("mean()", "3.3333333333333335e+299 2.5"),
    "(item.n > 0): any": ("any()", "true true"),
    "(item.n > 0): all": ("all()", "false true"),
    "(item.n, i): to_map": ("to_map()", "[(-3, 3), (100, 2)] [(7, 4)]"),
    "(item.n, i): to_setmap": ("to_setmap()", "[(-3, [3]), (100, [1, 2])] [(7, [4])]"),
    "(item.n, i): group_unzip": ("group_unzip()", "([-3, 100, 100], [3, 1, 2]) ([7], [4])"),
    "item.s: union": ("union()", "[1, 2, 3] []"),
    "ref_new(item.s): union": ("union()", "[1, 2, 3] []"),
}


@pytest.mark.parametrize("case", AGGREGATES)
def test_aggregates(case: str) -> None:
    value, (call, expected) = case.rpartition(":")[0], AGGREGATES[case]
    rule = f"Q(k, to_string_debug(v)) :- R(i, item), var k = item.k, var v = ({value}).group_by(k).{call}."
    relation = "relation Q(k: string, v: string)\n"
    joined = 'output relation P(v: string)\nP(v) :- Q("a", x), Q("b", y), var v = "${x} ${y}".\n'
    assert reference_answers(GROUPS + relation + rule + joined, {})["P"] == {(expected,)}
