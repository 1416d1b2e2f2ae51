"""clingo's lane: grounding the rules over the facts of a folder, which for rules without choice is evaluation.

python -m benchmarks.race_clingo PROGRAM FOLDER OUTPUT...
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import clingo


def main() -> None:
    program, folder, *outputs = sys.argv[1:]
    control = clingo.Control(["--warn=none"])
    wall = time.perf_counter()
    for path in sorted(Path(folder).glob("*.facts")):
        relation = path.stem.lower()
        with path.open() as lines:
            facts = "".join(f"{relation}({line.rstrip().replace(chr(9), ',')}).\n" for line in lines)
        control.add("base", [], facts)
    control.load(program)
    load = time.perf_counter() - wall
    wall, cpu = time.perf_counter(), time.process_time()
    control.ground([("base", [])])
    taken = {"evaluate": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    sizes = {output: _size(control, output.lower()) for output in outputs}
    print(json.dumps({**taken, "load": load, "sizes": sizes}))


def _size(control: clingo.Control, relation: str) -> int:
    arities = [arity for name, arity, _ in control.symbolic_atoms.signatures if name == relation]
    return sum(1 for arity in arities for _ in control.symbolic_atoms.by_signature(relation, arity))


if __name__ == "__main__":
    main()
