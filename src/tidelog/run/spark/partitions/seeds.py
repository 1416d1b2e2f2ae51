"""A stratum that starts from tuples given, not from its rules without recursion: what executors and driver run."""

from __future__ import annotations

from dataclasses import replace

from tidelog.base.expr import Var
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.closures.decompose import relations_below
from tidelog.plan.closures.linearise import Linearised
from tidelog.plan.nodes import Origin, Plan, Project, Relation, Rule, Scan, Stratum, Variant, Version
from tidelog.run.spark.store import Store


def seed_name(relation: str) -> str:
    """Return the name of the relation that holds the tuples a relation starts from."""
    return f"{relation}#seed"


def seeded_plan(store: Store, stratum: Stratum, closure: Linearised | None = None) -> Plan:
    """Return a program of just the recursive rules of a stratum, which starts from seeds."""
    own = [store.plan.relations[name] for name in stratum.relations]
    recursive = [rule for rule in stratum.rules if recursive_scans(rule, stratum)]
    rules = (*map(_seed_rule, own), *(replace(rule, source=None) for rule in recursive))
    relations: dict[str, Relation] = {below: store.plan.relations[below] for below in relations_below(stratum)}
    for relation in own:
        seeds = seed_name(relation.name)
        relations |= {relation.name: relation, seeds: replace(relation, name=seeds, role="input")}
        if closure is not None:
            relations[closure.step] = replace(relation, name=closure.step, role="input")
    strata = (Stratum(0, stratum.relations, recursive=True, rules=rules),)
    return Plan(store.types, relations, store.functions, strata, (), {})


def _seed_rule(relation: Relation) -> Rule:
    variables = tuple(Var(f"x{number}", column.type) for number, column in enumerate(relation.columns))
    scan = Scan(seed_name(relation.name), variables, Version.ALL, 0, variables)
    tree = Project(scan, relation.name, variables)
    full = Variant(None, negative=False, tree=tree)
    origin = Origin(f"{relation.name} from its seeds", None)
    return Rule(
        f"seeds of {relation.name}", relation.name, tree, full, (), (scan.relation,), (False,), (False,), origin
    )
