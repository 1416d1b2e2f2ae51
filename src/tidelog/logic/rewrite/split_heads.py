"""One rule for each head.

A(x), B(x) :- C(x).      A(x) :- C(x).
                         B(x) :- C(x).
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.lang.syntax import RuleDef


def split_heads(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return rules with one head each that mean the same together."""
    if len(rule.heads) <= 1:  # a goal has none
        return (rule,)
    return tuple(replace(rule, heads=(head,)) for head in rule.heads)
