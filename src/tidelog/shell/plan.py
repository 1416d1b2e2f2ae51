"""`tidelog plan`: show how a program is computed; with `--analyze`, what computing it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tidelog.session.database import Database
from tidelog.session.engines import StrategyName
from tidelog.session.observe.analyze import analyzing, costs_as_json, rule_costs, show_costs
from tidelog.session.program.static import (
    PLAN_FORMATS,
    PLAN_STRATEGIES,
    Plan,
    plan_source,
)
from tidelog.shell.limits import limit_options, limits_of, shown_progress
from tidelog.shell.options import (
    FOLDER,
    externs_option,
    header_option,
    library_option,
    load_externs,
    load_source,
    program_argument,
)
from tidelog.shell.terminal import escape_json, say, say_json


@click.command("plan")
@program_argument
@click.option("--format", "form", type=click.Choice(PLAN_FORMATS), default=PLAN_FORMATS[0], show_default=True)
@click.option("--strategy", type=click.Choice(PLAN_STRATEGIES), help="What this one evaluates; dred has own programs.")
@click.option("--engine", type=click.Choice(["spark"]), help="Show how each stratum will run on a cluster.")
@click.option("--analyze", is_flag=True, help="Evaluate the program, and show derivations and time by rule.")
@click.option("--rounds", is_flag=True, help="With --analyze: by round, too.")
@click.option("--facts", type=FOLDER, metavar="DIR", help="With --analyze: the facts to evaluate it on.")
@header_option
@limit_options
@library_option
@externs_option
def command(
    program: Path,
    form: str,
    strategy: StrategyName | None,
    analyze: bool,
    rounds: bool,
    facts: Path | None,
    library: tuple[Path, ...],
    externs: Path | None,
    **bounds: Any,
) -> None:
    """Show the strata and join plans of PROGRAM."""
    source, functions = load_source(program), load_externs(externs)
    engine, header = bounds.pop("engine"), bounds.pop("header")
    if strategy is not None and (analyze or form != "text"):
        raise click.UsageError("--strategy shows text, and goes without --analyze")
    if engine is not None:
        if analyze or form != "text":
            raise click.UsageError("--engine shows text, and goes without --analyze")
        say(Plan(plan_source(source, library, functions)).on_cluster().rstrip("\n"))
        return
    if not analyze:
        if rounds or facts is not None:
            raise click.UsageError("--rounds and --facts go with --analyze")
        plan = Plan(plan_source(source, library, functions))
        shown = (getattr(plan, form)() if strategy is None else plan.text(strategy)).rstrip("\n")
        click.echo(escape_json(shown)) if form == "json" else say(shown)
        return
    if form not in ("text", "json"):
        raise click.UsageError("--analyze shows text or json")
    with shown_progress(quiet=False), analyzing() as runs:
        Database(
            source,
            facts=facts,
            header=header,
            strategy="recompute",
            limits=limits_of(bounds),
            externs=functions,
            library=library,
        )
    costs = rule_costs(runs)
    if form == "json":
        say_json(costs_as_json(costs))
    else:
        say(show_costs(costs, by_round=rounds).rstrip("\n"))
