"""Circuits as pictures, for Graphviz and for Mermaid: an operator a node, a wire an edge, a loop a box.

An edge that leads back, through a delay, is dashed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from tidelog.base.arguments import expect
from tidelog.run.dbsp.circuits.circuit import Circuit, Feedback, Loop, Scope, Wire

_SPECIAL = str.maketrans({c: f"#{ord(c)};" for c in '"#&<>`\\'})


def to_dot(circuit: Circuit) -> str:
    """Write a circuit in the DOT language."""
    expect(circuit, Circuit, "circuit", "a circuit")
    lines = ["digraph circuit {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    lines += _nodes(circuit, 'subgraph cluster{} {{\n{}  label="loop";', "}", _dot_node)
    lines += [f"  o{i} [shape=ellipse, label={_dot(name)}];" for i, name in enumerate(circuit.outputs)]
    for source, target, back in _edges(circuit):
        lines.append(f"  {source} -> {target}{' [style=dashed]' if back else ''};")
    return "\n".join([*lines, "}", ""])


def to_mermaid(circuit: Circuit) -> str:
    """Write a circuit as a Mermaid flowchart."""
    expect(circuit, Circuit, "circuit", "a circuit")
    lines = ["flowchart LR", *_nodes(circuit, 'subgraph loop{}["loop"]', "end", _mermaid_node)]
    lines += [f"  o{i}([{_mermaid(name)}])" for i, name in enumerate(circuit.outputs)]
    for source, target, back in _edges(circuit):
        lines.append(f"  {source} {'-.->' if back else '-->'} {target}")
    return "\n".join([*lines, ""])


def _nodes(circuit: Circuit, opening: str, closing: str, node: Callable[[Wire, Circuit], str]) -> Iterator[str]:
    """Yield a line for each wire, in boxes for the loops, which `opening` begins: of a number and the space before."""
    numbers = count()

    def lines(scope: Scope, space: str) -> Iterator[str]:
        for part in scope.body:
            if isinstance(part, Loop):
                yield space + opening.format(next(numbers), space)
                yield from lines(part, f"{space}  ")
                yield space + closing
            else:
                yield space + node(part, circuit)

    return lines(circuit, "  ")


def _edges(circuit: Circuit) -> Iterator[tuple[str, str, bool]]:
    for wire in circuit.wires():
        for source in wire.inputs:
            yield f"n{source.number}", f"n{wire.number}", False
        if isinstance(wire, Feedback) and wire.source is not None:
            yield f"n{wire.source.number}", f"n{wire.number}", True
    for i, wire in enumerate(circuit.outputs.values()):
        yield f"n{wire.number}", f"o{i}", False


def _dot_node(wire: Wire, circuit: Circuit) -> str:
    shape = ", shape=ellipse" if wire.label in circuit.inputs else ""
    return f"n{wire.number} [label={_dot(wire.label)}{shape}];"


def _mermaid_node(wire: Wire, circuit: Circuit) -> str:
    left, right = ("([", "])") if wire.label in circuit.inputs else ("[", "]")
    return f"n{wire.number}{left}{_mermaid(wire.label)}{right}"


def _dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _mermaid(text: str) -> str:
    return f'"{text.translate(_SPECIAL)}"'
