"""The programs that DRed evaluates, as text: for each stratum the over-deletion and the alternative-derivation rules.

stratum 0: TC (recursive)
over-deletion
-TC(x, y) :- -Edge(x, y).
...
alternative derivations
+TC(x, y) :- -TC(x, y), Edge(x, y).
...
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.logic.print import print_rule
from tidelog.plan.nodes import Plan, Stratum
from tidelog.plan.rewrite.derive_again import derive_again
from tidelog.plan.rewrite.overdelete import overdelete


def show_dred(plan: Plan) -> str:
    """Write the programs of all strata."""
    return "\n\n".join("\n".join(_stratum(stratum)) for stratum in plan.strata) + "\n"


def _stratum(stratum: Stratum) -> Iterator[str]:
    recursive = " (recursive)" if stratum.recursive else ""
    yield f"stratum {stratum.number}: {', '.join(stratum.relations)}{recursive}"
    rules = [rule.source for rule in stratum.rules if rule.source is not None]
    yield "  over-deletion"
    yield from (f"    {print_rule(made)}" for rule in rules for made in overdelete(rule))
    yield "  alternative derivations"
    yield from (f"    {print_rule(derive_again(rule))}" for rule in rules)
