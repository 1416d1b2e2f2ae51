"""How long it takes to lex, parse and format a generated program of 4,000 rules (about 170,000 tokens).

Run with ``python benchmarks/language.py [rules]``. Seconds of processor time, the best of three.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.lex import lex
from tidelog.lang.parse.parse import parse

RELATIONS = 60


def program(rules: int) -> str:
    rng = random.Random(1)

    def atom(*arguments: str) -> str:
        return f"R{rng.randrange(RELATIONS)}({', '.join(arguments)})"

    lines = [f"input relation R{i}(a: string, b: bit<32>, c: bit<32>)" for i in range(RELATIONS)]
    for _ in range(rules):
        a, b, c, d, e = (f"v{rng.randrange(9)}" for _ in range(5))
        body = [atom(a, d, e), atom(e, b, "_"), f"not {atom(c, '5', a)}", f"{b} + 1 < {c}"]
        lines.append(f"{atom(a, b, c)} :- {', '.join(body)}.")
    return "\n".join(lines) + "\n"


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    source = Source("generated.dl", program(int(sys.argv[1]) if len(sys.argv) > 1 else 4000))
    module = parse(source, Report())
    tokens = len(lex(source, Report()).kinds)
    print(f"{tokens} tokens")
    print(f"lex            {best(lambda: lex(source, Report())):.3f} s")
    print(f"lex and parse  {best(lambda: parse(source, Report())):.3f} s")
    print(f"format         {best(lambda: format_module(module)):.3f} s")


if __name__ == "__main__":
    main()
