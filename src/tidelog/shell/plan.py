"""`tidelog plan`: show how a program is computed; with `--analyze`, what computing it takes."""

from __future__ import annotations

from typing import Any

import click

from tidelog.session.engines import StrategyName
from tidelog.session.observe.analyze import analyzing, costs_as_json, rule_costs, show_costs
from tidelog.session.program.static import (
    PLAN_FORMATS,
    PLAN_STRATEGIES,
    Plan,
    plan_source,
)
from tidelog.shell.opening import database_options, opened, shown_progress
from tidelog.shell.options import load_externs, load_source
from tidelog.shell.terminal import escape_json, say, say_json


@click.command("plan")
@database_options
@click.option("--format", "form", type=click.Choice(PLAN_FORMATS), default=PLAN_FORMATS[0], show_default=True)
@click.option("--strategy", type=click.Choice(PLAN_STRATEGIES), help="What this one evaluates; dred has own programs.")
@click.option("--engine", type=click.Choice(["spark"]), help="Show how each stratum will run on a cluster.")
@click.option("--analyze", is_flag=True, help="Evaluate the program, and show derivations and time by rule.")
@click.option("--rounds", is_flag=True, help="With --analyze: by round, too.")
def command(
    form: str,
    strategy: StrategyName | None,
    engine: str | None,
    analyze: bool,
    rounds: bool,
    **given: Any,
) -> None:
    """Show the strata and join plans of PROGRAM."""
    if strategy is not None and (analyze or form != "text"):
        raise click.UsageError("--strategy shows text, and goes without --analyze")
    if engine is not None and (analyze or form != "text"):
        raise click.UsageError("--engine shows text, and goes without --analyze")
    if not analyze:
        if rounds or given["facts"] is not None:
            raise click.UsageError("--rounds and --facts go with --analyze")
        plan = Plan(plan_source(load_source(given["program"]), given["library"], load_externs(given["externs"])))
        shown = plan.on_cluster() if engine else getattr(plan, form)() if strategy is None else plan.text(strategy)
        click.echo(escape_json(shown.rstrip("\n"))) if form == "json" else say(shown.rstrip("\n"))
        return
    if form not in ("text", "json"):
        raise click.UsageError("--analyze shows text or json")
    with shown_progress(quiet=False), analyzing() as runs:
        opened(given)
    costs = rule_costs(runs)
    if form == "json":
        say_json(costs_as_json(costs))
    else:
        say(show_costs(costs, by_round=rounds).rstrip("\n"))
