"""Circuits as pictures, for Graphviz and for Mermaid: an operator a node, a wire an edge, a loop a box.

An edge that leads back, through a delay, is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base.arguments import expect
from tidelog.run.dbsp.circuits.circuit import Circuit, Feedback, Loop, Wire

_SPECIAL = str.maketrans({c: f"#{ord(c)};" for c in '"#&<>`\\'})


def to_dot(circuit: Circuit) -> str:
    """Write a circuit in the DOT language."""
    expect(circuit, Circuit, "circuit", "a circuit")
    lines = ["digraph circuit {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    loops = 0
    for part in circuit.body:
        if isinstance(part, Loop):
            lines += [f"  subgraph cluster{loops} {{", '    label="loop";']
            lines += [f"    {_dot_node(wire, circuit)}" for wire in part.wires()]
            lines.append("  }")
            loops += 1
        else:
            lines.append(f"  {_dot_node(part, circuit)}")
    lines += [f"  o{i} [shape=ellipse, label={_dot(name)}];" for i, name in enumerate(circuit.outputs)]
    for source, target, back in _edges(circuit):
        lines.append(f"  {source} -> {target}{' [style=dashed]' if back else ''};")
    return "\n".join([*lines, "}", ""])


def to_mermaid(circuit: Circuit) -> str:
    """Write a circuit as a Mermaid flowchart."""
    expect(circuit, Circuit, "circuit", "a circuit")
    lines = ["flowchart LR"]
    loops = 0
    for part in circuit.body:
        if isinstance(part, Loop):
            lines.append(f'  subgraph loop{loops}["loop"]')
            lines += [f"    {_mermaid_node(wire, circuit)}" for wire in part.wires()]
            lines.append("  end")
            loops += 1
        else:
            lines.append(f"  {_mermaid_node(part, circuit)}")
    lines += [f"  o{i}([{_mermaid(name)}])" for i, name in enumerate(circuit.outputs)]
    for source, target, back in _edges(circuit):
        lines.append(f"  {source} {'-.->' if back else '-->'} {target}")
    return "\n".join([*lines, ""])


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
