"""How long it takes to parse, check and plan a large program (4,000 rules over 1,000 relations), and one more rule.

    python benchmarks/large_program.py [--rules 4000] [--relations 1000] [--write program.dl]

The program is made from a fixed seed, so every run has the same one. One relation in ten is an input; rules join two
to four atoms in chains, and some of them negate, compare, compute, take patterns apart or group. Recursion stays
inside blocks of neighbouring relations; negation and grouping look back only, so that the program is stratified. Times
are of the processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse
from tidelog.logic.passes import analyse_openly
from tidelog.plan.passes import plan_program

SEED = 20
BLOCK = 8
Result = TypeVar("Result")


def large_program(rules: int = 4000, relations: int = 1000) -> str:
    """Return the text of a program with the given number of rules and relations."""
    rng = random.Random(SEED)
    lines = [
        "typedef Kind = Plain | Tagged{tag: string} | Pair{left: bit<32>, right: bit<32>}",
        "function step(x: bit<32>): bit<32> { if (x > 1000) { x - 1000 } else { x + 1 } }",
    ]
    inputs = [number for number in range(relations) if number % 10 == 0]
    derived = [number for number in range(relations) if number % 10 != 0]
    lines += (_declaration(number, number % 10 == 0) for number in range(relations))
    lines += (_rule(derived[i % len(derived)], i, inputs, rng) for i in range(rules))
    return "\n".join(lines) + "\n"


def _declaration(number: int, is_input: bool) -> str:
    role = "input " if is_input else "output " if number % 10 == 9 else ""
    return f"{role}relation R{number}(a: bit<32>, b: bit<32>, name: string, kind: Kind)"


def _rule(head: int, number: int, inputs: list[int], rng: random.Random) -> str:
    block = head - head % BLOCK
    near = [n for n in range(block, block + BLOCK) if n <= head or n % 10 == 0] or [inputs[0]]
    before = list(range(max(0, block - 40), block)) or [inputs[0]]
    length = rng.randint(2, 4)
    chain = [rng.choice(inputs if i == 0 else near if rng.random() < 0.5 else before) for i in range(length)]
    if number % 4 != 0:
        chain = [n if n < block or n % 10 == 0 else rng.choice(before) for n in chain]
    body = [f"R{n}(x{i}, x{i + 1}, {'s' if i == 0 else '_'}, {'k' if i == 0 else '_'})" for i, n in enumerate(chain)]
    name, kind, last = "s", "k", f"x{length}"
    match number % 10:
        case 1:
            body.append(f"not R{rng.choice(before)}(x0, {last}, _, _)")
        case 2:
            body.append(f"x0 != {last}")
        case 3:
            body += [f"var y = step(x0) + {rng.randint(1, 9)}", "y > 7"]
        case 4:
            body.append("Tagged{var t} = k")
            name = "t"
        case 5 if number % 4 != 0:
            body.append(f"var n = x0.group_by(({last}, s)).count_distinct()")
            kind = "Plain"
            return f"R{head}({last}, n as bit<32>, {name}, {kind}) :- {', '.join(body)}."
        case 6:
            name = '"${s}-${x0}"'
        case _:
            pass
    return f"R{head}(x0, {last}, {name}, {kind}) :- {', '.join(body)}."


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _measure(text: str) -> Iterator[tuple[str, float]]:
    report = Report()
    source = Source("large.dl", text)
    parsing, _ = _timed(lambda: parse(source, report))
    yield "parse", parsing
    analysing, analysis = _timed(lambda: analyse_openly(source, report))
    _check(analysis, report)
    yield "check", analysing - parsing
    planning, plan = _timed(lambda: plan_program(analysis.program, report))
    _check(plan, report)
    yield "plan", planning
    yield "all three", analysing + planning
    rule = Source("<rules>", "R1(x, y, s, k) :- R10(x, z, s, k), R20(z, y, _, _), x != y.")
    adding, more = _timed(lambda: analysis.with_rules(analysis.program, rule, report))
    _check(more, report)
    replanning, again = _timed(lambda: plan_program(more, report, earlier=plan))
    _check(again, report)
    yield "check a further rule", adding
    yield "plan it", replanning


def _check(result: object, report: Report) -> None:
    if result is None:
        raise SystemExit("\n\n".join(render(d) for d in report.errors[:5]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rules", type=int, default=4000)
    arguments.add_argument("--relations", type=int, default=1000)
    arguments.add_argument("--write", type=pathlib.Path, help="also write the program to a file")
    given = arguments.parse_args()
    text = large_program(given.rules, given.relations)
    if given.write:
        given.write.write_text(text)
    print(f"{given.rules} rules, {given.relations} relations, {len(text) / 1000:.0f} kB")
    for phase, seconds in _measure(text):
        print(f"{phase:<24}{seconds:8.3f} s")


if __name__ == "__main__":
    main()
