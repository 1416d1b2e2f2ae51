"""Makes a failing history smaller: leaves out steps, looks, rules, clauses, facts, relations while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tidelog.session.soak.histories import History, Step
from tidelog.session.soak.spec import Row, Rule


def shrink(history: History, fails: Callable[[History], bool]) -> History:
    """Return a history that fails, of which nothing can be left out."""
    smaller: History | None = history
    while smaller is not None:
        history = smaller
        smaller = next((candidate for candidate in candidates(history) if fails(candidate)), None)
    return history


def candidates(history: History) -> Iterator[History]:
    """Smaller histories, the smallest first."""
    start, steps = history.start, history.steps
    for i in range(len(steps) - 1, 0, -1):
        yield replace(history, steps=steps[:i])
    for i in range(len(steps)):
        yield replace(history, steps=steps[:i] + steps[i + 1 :])
    yield from (replace(history, steps=fewer) for fewer in quieter(steps))
    rules = dict.fromkeys([*start.rules, *(r for step in steps for r in step.rules_added)])
    for rule in rules:
        yield without_rule(history, rule, None)
    for rule in rules:
        for smaller in smaller_rules(rule):
            yield without_rule(history, rule, smaller)
    for i, step in enumerate(steps):
        for less in smaller_steps(step):
            yield replace(history, steps=(*steps[:i], less, *steps[i + 1 :]))
    used = "".join(map(str, rules))
    for relation in start.relations:
        if f"{relation.name}(" not in used:
            kept = tuple(r for r in start.relations if r != relation)
            yield replace(
                history, start=replace(start, relations=kept), steps=tuple(drop(s, relation.name) for s in steps)
            )


def quieter(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """The steps with less beside committing: none of it at all, none of some sort, none at one step, one look less."""
    nothing: list[dict[str, Any]] = [
        {"undone": ()},
        {"previews": ()},
        {"refused": None},
        {"frames": False},
        {"looks": ()},
    ]
    everything = {name: value for less in nothing for name, value in less.items()}
    for less in (everything, *nothing):
        if any(getattr(step, name) != value for step in steps for name, value in less.items()):
            yield tuple(replace(step, **less) for step in steps)
    for i, step in enumerate(steps):
        for less in (*nothing, *({"looks": step.looks[:k] + step.looks[k + 1 :]} for k in range(len(step.looks)))):
            if any(getattr(step, name) != value for name, value in less.items()):
                yield (*steps[:i], replace(step, **less), *steps[i + 1 :])


def without_rule(history: History, rule: Rule, instead: Rule | None) -> History:
    """Replace a rule everywhere, or leave it out."""

    def changed(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(instead if r == rule else r for r in rules if r != rule or instead is not None)  # type: ignore[misc]

    steps = (
        replace(s, rules_added=changed(s.rules_added), rules_removed=changed(s.rules_removed)) for s in history.steps
    )
    return History(replace(history.start, rules=changed(history.start.rules)), tuple(steps))


def smaller_rules(rule: Rule) -> Iterator[Rule]:
    """The rule with a clause or a head less; some are not safe, which does not matter here."""
    for i in range(len(rule.body)):
        order = tuple(j - (j > i) for j in rule.written if j != i)
        yield Rule(rule.heads, rule.body[:i] + rule.body[i + 1 :], order)
    for head in rule.heads[1:]:
        yield replace(rule, heads=tuple(h for h in rule.heads if h != head))


def smaller_steps(step: Step) -> Iterator[Step]:
    """The step with half of the facts, a fact or a rule less."""
    for name, rows in step.inserted.items():
        yield from (replace(step, inserted={**step.inserted, name: rows - half}) for half in halves(rows))
    for name, rows in step.deleted.items():
        yield from (replace(step, deleted={**step.deleted, name: rows - half}) for half in halves(rows))
    for name, rows in step.inserted.items():
        for row in rows:
            yield replace(step, inserted={**step.inserted, name: rows - {row}})
    for name, rows in step.deleted.items():
        for row in rows:
            yield replace(step, deleted={**step.deleted, name: rows - {row}})
    for rule in step.rules_added:
        yield replace(step, rules_added=tuple(r for r in step.rules_added if r != rule))
    for rule in step.rules_removed:
        yield replace(step, rules_removed=tuple(r for r in step.rules_removed if r != rule))


def halves(rows: frozenset[Row]) -> Iterator[frozenset[Row]]:
    """Both halves of many rows, the four quarters, and so on."""
    ordered = sorted(rows, key=repr)
    size = len(ordered) // 2
    while size > 1:
        yield from (frozenset(ordered[i : i + size]) for i in range(0, len(ordered), size))
        size //= 2


def drop(step: Step, relation: str) -> Step:
    """The step without a relation."""
    inserted = {name: rows for name, rows in step.inserted.items() if name != relation}
    deleted = {name: rows for name, rows in step.deleted.items() if name != relation}
    return replace(step, inserted=inserted, deleted=deleted)


def show(history: History, program: str | None = None) -> str:
    """Write a history for people; `program` is the text of the program if that has more than the rules."""
    lines = [str(history.start) if program is None else program]
    for number, step in enumerate(history.steps):
        lines += [f"step {number}:", *_shown(step, "  ")]
    return "\n".join(lines)


def _shown(step: Step, indent: str) -> list[str]:
    lines = []
    for undone in step.undone:
        lines += [f"{indent}rolled back:", *_shown(undone, f"{indent}  ")]
    for sign, changes in (("+", step.inserted), ("-", step.deleted)):
        lines += [f"{indent}{sign} {name}{row}" for name, rows in changes.items() for row in sorted(rows, key=repr)]
    lines += [f"{indent}+ {rule}" for rule in step.rules_added] + [f"{indent}- {rule}" for rule in step.rules_removed]
    lines += [f"{indent}preview, looked at {later} commits later" for later in step.previews]
    lines += [f"{indent}first with at most {step.refused} tuples"] if step.refused is not None else []
    lines += [f"{indent}given in Arrow"] if step.frames else []
    return lines + [f"{indent}then {look}" for look in step.looks]
