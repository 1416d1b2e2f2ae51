"""Hostile programs by name: each is harmless to check and would, without limits, run for hours or fill all memory.

`FUNCTIONS` are expressions of a string that one fact makes; `RULES` are programs with the facts they are given in a
transaction after the program was loaded, so that there is a state to be left as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

Facts = dict[str, Iterable[tuple[Any, ...]]]

_LOOP = "var big = upto(100000);"
_TEXTS = 'var s = "ab"; for (i in upto(20)) { s = s ++ s }; var many = vec_with_length(10000, s);'

FUNCTIONS = {
    "nested loops": f"{{{_LOOP} var n: u64 = 0; for (i in big) {{ for (j in big) {{ n = n + j }} }}; n}}",
    "a loop of loops of nothing": f"{{{_LOOP} for (i in big) {{ for (j in big) {{ }} }}; 1}}",
    "folds": f"{{{_LOOP} big.map(|i| big.fold(|n, j| n + i * j, 0: u64))}}",
    "a filter in a filter": f"{{{_LOOP} big.filter(|i| big.any(|j| j > 200000))}}",
    "calls that double": "f36(1)",
    "text that doubles": '{var s = "0123456789"; for (i in upto(36)) { s = s ++ s }; s.len()}',
    "interpolation that doubles": '{var s = "0123456789"; for (i in upto(36)) { s = "${s} ${s}" }; s.len()}',
    "replacements that double": '{var s = "a"; for (i in upto(36)) { s = s.replace("a", "aa") }; s.len()}',
    "a text for each of its letters": '{var s = "a" ; for (i in upto(17)) { s = s ++ s }; s.replace("a", s).len()}',
    "a text between all letters": '{var s = "a"; for (i in upto(17)) { s = s ++ s }; s.split("").join(s).len()}',
    "vectors that double": "{var v = [1: u8]; for (i in upto(36)) { v.append(v) }; v.len()}",
    "vectors of vectors": "{var a = vec_with_length(10000, 1: u8); var b = vec_with_length(10000, a); "
    "var c = vec_with_length(10000, b); c == vec_with_length(10000, vec_with_length(10000, a))}",
    "a long range": "upto(60000000).len()",
    "a growing vector": "{var v = [1: u64]; for (i in upto(3000000)) { v.push(i) }; v.len()}",
    "a growing set": "{var v = set_empty(); for (i in upto(3000000)) { v.insert(i) }; v.size()}",
    "a growing map": "{var v = map_empty(); for (i in upto(3000000)) { v.insert(i, i) }; v.size()}",
    "trees that double": "{var t = Leaf; for (i in upto(36)) { t = Node{t, t} }; "
    "var s = Leaf; for (i in upto(36)) { s = Node{s, s} }; s == t}",
    "the text of a tree": "{var t = Leaf; for (i in upto(36)) { t = Node{t, t} }; to_string_debug(t)}",
    "the hash of a tree": "{var t = Leaf; for (i in upto(36)) { t = Node{t, t} }; hash64(t)}",
    "trees in order": "{var t = Leaf; for (i in upto(36)) { t = Node{t, t} }; "
    "var s = Leaf; for (i in upto(36)) { s = Node{s, s} }; s < t}",
    "squares": "{var n: bigint = 3; for (i in upto(40)) { n = n * n }; n > 0}",
    "shifts": "{var n: bigint = 1; for (i in upto(4000)) { n = n << 60000000 }; n > 0}",
    "powers": "{var n: bigint = 3; for (i in upto(40)) { n = pow32(n, 64) % (1 << 4000000) }; n > 0}",
    "long division": "{var n: bigint = 1 << 60000000; var m: bigint = (1 << 30000000) + 1; n / m / 3 > 0}",
    "digits": '{var n: bigint = 3; for (i in upto(22)) { n = n * n }; "${n}".len()}',
    "a pattern that backtracks": '{var s = "a"; for (i in upto(24)) { s = s ++ s }; '
    'regex_match(regex("^(a+)+$"), s ++ "b")}',
    "a pattern with many states": '{var s = "ab"; for (i in upto(21)) { s = s ++ s }; '
    'regex_match(regex("(a|b)*a[ab]{900}c"), s)}',
    "all matches": '{var s = "a"; for (i in upto(23)) { s = s ++ s }; regex_all_matches(regex("a*b|a"), s).len()}',
    "a text of JSON": '{var s = "[],"; for (i in upto(23)) { s = s ++ s }; '
    'var r: Result<JsonValue, string> = from_json_string("[" ++ s ++ "[]]"); r == Err{""}}',
    "JSON of one text many times": f"{{{_TEXTS} match (to_json_string(many)) {{ Ok{{s}} -> s.len(), Err{{_}} -> 0 }}}}",
    "the hash of one text many times": f"{{{_TEXTS} hash64(many)}}",
    "json": "{var t = JsonNull; for (i in upto(36)) { t = JsonArray{[t, t]} }; to_json_string(t)}",
}
"""Expressions whose text a fact should hold."""

_FUNCTIONS = """
import regex
import json
import time
import vec
import set
import map
function upto(n: u64): Vec<u64> = range_vec(0, n, 1)
typedef Tree = Leaf | Node{left: Tree, right: Tree}
function f0(n: u64): u64 = n
""" + "".join(f"function f{i + 1}(n: u64): u64 = f{i}(n) + f{i}(n + 1)\n" for i in range(36))


def function_program(expression: str) -> str:
    """Return a program that evaluates an expression for each fact of `Go`."""
    rule = f"Made(x, to_string_debug({expression})) :- Go(x).\n"
    return f"{_FUNCTIONS}input relation Go(x: u64)\noutput relation Made(x: u64, s: string)\n{rule}"


def _numbers(count: int) -> list[tuple[int, ...]]:
    return [(n,) for n in range(count)]


_A = "input relation A(x: u64)\n"
_E = "input relation E(x: u64, y: u64)\n"
_R1, _R2, _R3 = (f"output relation R({', '.join(f'{name}: u64' for name in names)})\n" for names in ("x", "xy", "xyz"))
_MANY: Facts = {"A": _numbers(100_000)}
_STAR: Facts = {"E": [(0, n + 1) for n in range(50_000)] + [(n + 1, 0) for n in range(50_000)]}
_TREE: Facts = {"E": [(n // 2, n) for n in range(1, 20_000)]}
_CHAIN: Facts = {"E": [(n, n + 1) for n in range(30_000)]}
_LADDER: Facts = {"E": [(n, n + step) for n in range(100_000) for step in (1, 2)]}


def _at_random(nodes: int, edges: int) -> Facts:
    random = Random(0)
    return {"E": [(random.randrange(nodes), random.randrange(nodes)) for _ in range(edges)]}


def _layers(graphs: int, layers: int, width: int) -> Facts:
    """Graphs in layers: every node leads to three of the next layer, and soon to all of one."""
    random, edges = Random(0), []
    for start in range(0, graphs * layers * width, width):
        if start // width % layers < layers - 1:
            edges += [(start + n, start + width + random.randrange(width)) for n in range(width) for _ in range(3)]
    return {"E": edges}


RULES: dict[str, tuple[str, Facts]] = {
    "a cross join": (f"{_A}{_R2}R(x, y) :- A(x), A(y).\n", _MANY),
    "pairs that do not fit": (f"{_A}{_R2}R(x, y) :- A(x), A(y), x + y == 1000000000.\n", _MANY),
    "triples of 1,000 that do not fit": (
        f"{_A}{_R1}R(x) :- A(x), A(y), A(z), x + y + z == 1000000000.\n",
        {"A": _numbers(1000)},
    ),
    "triples of 100,000 that do not fit": (f"{_A}{_R1}R(x) :- A(x), A(y), A(z), x + y + z == 1000000000.\n", _MANY),
    "paths through a hub": (f"{_E}{_R1}R(x) :- E(x, a), E(a, b), E(b, c), E(c, y), x + y == 1000000000.\n", _STAR),
    "squares through a hub": (
        f"{_E}{_R1}R(x) :- E(x, y), E(y, z), E(z, a), E(a, x), x + y + z + a == 1000000000.\n",
        _STAR,
    ),
    "pairs that are no edges": (
        f"{_E}{_A}{_R1}R(x) :- A(x), A(y), not E(x, y), x + y == 1000000000.\n",
        {**_MANY, **_TREE},
    ),
    "a vector of all pairs": (
        f"{_A}output relation R(v: Vec<(u64, u64)>)\nR(v) :- A(x), A(y), var v = (x, y).group_by(()).to_vec().\n",
        _MANY,
    ),
    "the number of all pairs": (f"{_A}{_R1}R(n) :- A(x), A(y), var n = (x, y).group_by(()).count().\n", _MANY),
    "the sum of all pairs": (f"{_A}{_R1}R(n) :- A(x), A(y), var n = (x * y).group_by(()).sum().\n", _MANY),
    "a set of each": (
        f"{_A}output relation R(x: u64, v: Set<u64>)\nR(x, v) :- A(x), A(y), var v = y.group_by(x).to_set().\n",
        _MANY,
    ),
    "elements of a long vector": (
        f"{_A}{_R2}R(x, y) :- A(x), var y = FlatMap(range_vec(0: u64, 1000000, 1)).\n",
        _MANY,
    ),
    "elements that do not fit": (
        f"{_A}{_R1}R(x) :- A(x), var y = FlatMap(range_vec(0: u64, 100000, 1)), x + y == 1000000000.\n",
        _MANY,
    ),
    "even and odd": (
        f"{_A}{_R1}output relation S(x: u64)\nR(x) :- A(x).\nS(x + 1) :- R(x).\nR(x + 1) :- S(x), x > 0.\n",
        {"A": [(0,)]},
    ),
    "an endless count": (
        "input relation A(x: bigint)\noutput relation R(x: bigint)\nR(x) :- A(x).\nR(x + 1) :- R(x).\n",
        {"A": [(0,)]},
    ),
    "an endless text": (
        'input relation A(x: u64)\noutput relation R(s: string)\nR("${x}") :- A(x).\nR(s ++ s) :- R(s).\n',
        {"A": [(0,)]},
    ),
    "reachability": (f"{_E}{_R2}R(x, y) :- E(x, y).\nR(x, z) :- R(x, y), E(y, z).\n", _LADDER),
    "reachability by searches": (f"{_E}{_R2}R(x, y) :- E(x, y).\nR(x, z) :- R(x, y), E(y, z).\n", _layers(8, 20, 600)),
    "reachability without end": (
        f"{_E}{_R3}R(x, y, 1) :- E(x, y).\nR(x, z, n + 1) :- R(x, y, n), E(y, z).\n",
        {**_STAR},
    ),
    "reachability by halves": (f"{_E}{_R2}R(x, y) :- E(x, y).\nR(x, z) :- R(x, y), R(y, z), x != z.\n", _CHAIN),
    "same generation": (
        f"{_E}{_R2}R(x, y) :- E(z, x), E(z, y).\nR(x, y) :- E(a, x), R(a, b), E(b, y).\n",
        {"E": [(n // 5000, n) for n in range(1, 30_000)]},
    ),
    "same generation at random": (
        f"{_E}{_R2}R(x, y) :- E(z, x), E(z, y).\nR(x, y) :- E(a, x), R(a, b), E(b, y).\n",
        _at_random(10_000, 20_000),
    ),
    "undirected reachability": (
        f"{_E}{_R2}R(x, y) :- E(x, y).\nR(y, x) :- R(x, y).\nR(x, z) :- R(x, y), E(y, z).\n",
        _CHAIN,
    ),
    "least of all pairs": (f"{_A}{_R1}R(n) :- A(x), A(y), var n = (x ^ y).group_by(x & 1).min().\n", _MANY),
}
"""Programs, and facts for them."""
