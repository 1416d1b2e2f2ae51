"""The attributes that may stand before declarations: `#[name = value]`.

`name` names a rule, `strategy` says how a relation follows changes, `demand` that only what is asked for of it is
computed, `monotone` that a function grows with its arguments. DDlog's attributes about storage and generated code
say nothing about meaning; they are accepted (`STORAGE`), so that its programs run, and have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidelog.base.diagnostic import Label, Report, did_you_mean
from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Attribute, Attributes, Declaration, Module

STORAGE = frozenset((
    "size", "original", "alias", "rust", "dyn_alloc", "shared_ref", "by_val", "return_by_ref", "iterate_by_ref",
    "iterate_by_val", "deserialize_from_array", "custom_serde", "custom_from_record", "has_side_effects", "optimize",
))  # fmt: skip
"""DDlog's attributes that are accepted anywhere and ignored."""

STRATEGIES = ("auto", "ranked", "recompute")
"""How a relation may be told to follow changes."""


def check_attributes(module: Module, names: dict[str, Span], report: Report) -> None:
    """Report unknown attributes of a module, and rule names that are used twice; `names` collects those in use."""
    for declaration in module.declarations:
        own = declaration.attributes
        is_rule = isinstance(declaration, syntax.RuleDef | syntax.ImperativeRule)
        for attribute in (*own, *_inner(declaration)) if not is_rule else own:
            if is_rule and attribute.name == "name":
                _check_name(attribute, names, report)
            elif attribute.name == "strategy" and isinstance(declaration, syntax.RelationDef) and attribute in own:
                _check_strategy(attribute, report)
            elif attribute.name == "monotone" and isinstance(declaration, syntax.FunctionDef) and attribute in own:
                _check_monotone(attribute, report)
            elif attribute.name == "demand" and isinstance(declaration, syntax.RelationDef) and attribute in own:
                _check_demand(attribute, declaration, report)
            elif attribute.name not in STORAGE:
                _unknown(attribute, is_rule, report)


def text_of(name: str, attributes: Attributes) -> str | None:
    """Return the text that `#[name = "..."]` gives."""
    for attribute in attributes:
        match attribute:
            case Attribute(own, syntax.StringLiteral((str() as text,))) if own == name:
                return text
            case _:
                pass
    return None


def name_in_json(attributes: Attributes) -> str:
    """Return the name that `#[rust = "serde(rename = ...)"]` gives a field or constructor in JSON, or nothing."""
    found = _RENAMED.match(text_of("rust", attributes) or "")
    return found[1] if found else ""


def tag_in_json(attributes: Attributes) -> str:
    """Return the key that `#[rust = "serde(tag = ...)"]` of a union has for the constructor's name, or nothing."""
    found = _TAGGED.match(text_of("rust", attributes) or "")
    return found[1] if found else ""


def form_in_json(attributes: Attributes) -> str:
    """Return how a field stands in JSON: `flat` by `serde(flatten)`, `text` by `serde(with = "...serde_string")`."""
    text = text_of("rust", attributes) or ""
    return "flat" if _FLAT.match(text) else "text" if _TEXT.match(text) else ""


_TAGGED = re.compile(r'\s*serde\s*\(.*\btag\s*=\s*"([^"]*)"')
_FLAT = re.compile(r"\s*serde\s*\((?:[^\"]|\"[^\"]*\")*\bflatten\b")
_TEXT = re.compile(r'\s*serde\s*\(.*\bwith\s*=\s*"(?:[^"]*::)?serde_string"')
_RENAMED = re.compile(r'\s*serde\s*\(.*\brename\s*=\s*"([^"]*)"')


def _inner(declaration: Declaration) -> Iterator[Attribute]:
    match declaration:
        case syntax.TypeDef(body=tuple() as constructors):
            for constructor in constructors:
                yield from constructor.attributes
                for field in constructor.fields:
                    yield from field.attributes
        case (
            syntax.FunctionDef(parameters=items) | syntax.RelationDef(fields=items) | syntax.IndexDef(parameters=items)
        ):
            for item in items:
                yield from item.attributes
        case _:
            pass


def _check_name(attribute: Attribute, names: dict[str, Span], report: Report) -> None:
    name = text_of("name", (attribute,))
    if name is None:
        report.add(
            "E0417",
            "the name of a rule is a string",
            attribute.span,
            note="a rule can be removed or replaced by its name",
            hint='write `#[name = "..."]`',
        )
    elif name in names:
        report.add(
            "E0418",
            f"two rules have the name `{name}`",
            attribute.span,
            labels=[Label(names[name], "first used here")],
            note="names tell rules apart",
            hint="choose another name",
        )
    else:
        names[name] = attribute.span


def _check_strategy(attribute: Attribute, report: Report) -> None:
    strategy = text_of("strategy", (attribute,))
    if strategy in STRATEGIES:
        return
    hint = did_you_mean(strategy or "", STRATEGIES)
    report.add(
        "E0423",
        "this is no strategy of a relation",
        attribute.span,
        note="a relation can be told how it follows changes: " + ", ".join(f'"{name}"' for name in STRATEGIES),
        hint=hint or 'write for instance `#[strategy = "recompute"]`',
    )


def _check_demand(attribute: Attribute, declaration: syntax.RelationDef, report: Report) -> None:
    if attribute.value is not None:
        report.add(
            "E0424",
            "`demand` has no value",
            attribute.span,
            note="it says that a relation is computed only as far as goals and other relations ask for it",
            hint="write `#[demand]`",
        )
    elif declaration.role == "input":
        report.add(
            "E0424",
            f"`{declaration.name}` is an input relation, which is not computed",
            attribute.span,
            note="`#[demand]` says that a relation is computed only as far as goals and other relations ask for it",
            hint="remove the attribute",
        )


def _check_monotone(attribute: Attribute, report: Report) -> None:
    if attribute.value is not None:
        report.add(
            "E0416",
            "`monotone` has no value",
            attribute.span,
            note="it says that the result of a function grows, or stays, with each of its arguments",
            hint="write `#[monotone]`",
        )


def _unknown(attribute: Attribute, is_rule: bool, report: Report) -> None:
    misplaced = {
        "name": ("only rules have names of this kind", "remove the attribute"),
        "strategy": ("only relations follow changes by a strategy", "put it before the relation"),
        "demand": ("only relations are computed by demand", "put it before the relation"),
        "monotone": ("only functions grow with their arguments", "put it before the function"),
    }
    if attribute.name in misplaced:
        note, hint = misplaced[attribute.name]
        report.add("E0416", f"`{attribute.name}` is no attribute of this", attribute.span, note=note, hint=hint)
        return
    known = STORAGE | {"name"} if is_rule else STORAGE | {"strategy", "demand", "monotone"}
    report.add(
        "W0405",
        f"unknown attribute `{attribute.name}`, which has no effect",
        attribute.span,
        note="the attribute of rules is `name`, those of relations `strategy` and `demand`; attributes of DDlog about"
        " storage are accepted and ignored",
        hint=did_you_mean(attribute.name, known) or "remove the attribute",
        severity="warning",
    )
