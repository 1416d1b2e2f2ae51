"""Inputs made by rule, from fixed seeds: the same in every run and with every version of numpy or Python.

Random numbers come from the standard library's `random.Random.random`, whose sequence Python guarantees.
"""

from __future__ import annotations

import random

Pairs = list[tuple[int, int]]


def random_graph(nodes: int, edges: int, seed: int = 1) -> Pairs:
    """Return so many distinct edges between random nodes."""
    rng = random.Random(seed)
    found: dict[tuple[int, int], None] = {}
    while len(found) < edges:
        found[(int(rng.random() * nodes), int(rng.random() * nodes))] = None
    return list(found)


def acyclic(nodes: int, edges: int, seed: int = 4) -> Pairs:
    """Return so many distinct edges, each from a smaller node to a larger one (DAG-R of Hu et al.)."""
    rng = random.Random(seed)
    found: dict[tuple[int, int], None] = {}
    while len(found) < edges:
        one, other = int(rng.random() * nodes), int(rng.random() * nodes)
        if one != other:
            found[(min(one, other), max(one, other))] = None
    return list(found)


def chains(count: int, length: int) -> Pairs:
    """Return so many chains of so many nodes each: the symmetric-transitive closure makes a clique of each."""
    return [(length * k + i, length * k + i + 1) for k in range(count) for i in range(length - 1)]


def andersen(variables: int, seed: int = 2) -> dict[str, Pairs]:
    """Return the statements of a C program with so many variables, in functions of 40 that share some globals.

    A variable takes the address of one object in three, is assigned within its function mostly, and one statement in
    eight goes through a pointer.
    """
    rng = random.Random(seed)
    shared = max(variables // 50, 1)

    def near(variable: int) -> int:
        if rng.random() < 0.005:
            return int(rng.random() * shared)
        block = variable - variable % 40
        return min(block + int(rng.random() * 40), variables - 1)

    facts: dict[str, dict[tuple[int, int], None]] = {"AddressOf": {}, "Assign": {}, "Load": {}, "Store": {}}
    for variable in range(variables):
        if rng.random() < 0.33:
            facts["AddressOf"][(variable, near(variable))] = None
        for _ in range(1 + int(rng.random() * 1.2)):
            facts["Assign"][(variable, near(variable))] = None
        if rng.random() < 0.1:
            facts["Load"][(variable, near(variable))] = None
        if rng.random() < 0.1:
            facts["Store"][(near(variable), variable)] = None
    return {name: list(pairs) for name, pairs in facts.items()}


def cspa(variables: int, seed: int = 3) -> dict[str, Pairs]:
    """Return assignments and dereferences of so many variables: chains of values with a few joins and pointers."""
    rng = random.Random(seed)
    assign: dict[tuple[int, int], None] = {}
    dereference: dict[tuple[int, int], None] = {}
    for variable in range(variables):
        block = variable - variable % 60
        if variable % 60:
            assign[(variable, block + int(rng.random() * (variable - block)))] = None
        elif rng.random() < 0.1:
            assign[(variable, int(rng.random() * variables))] = None
        if rng.random() < 0.3:
            dereference[(variable, block + int(rng.random() * 60))] = None
    return {"Assign": list(assign), "Dereference": list(dereference)}
