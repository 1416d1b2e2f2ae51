"""`tidelog rdf`: what concerns RDF alone.

`tidelog rdf rules ONTOLOGY` prints a program with the rules of an ontology: its classes and properties, and no rules of
a logic. What the ontology says that rules cannot is said in comments at its top.
"""

from __future__ import annotations

from pathlib import Path

import click

from tidelog.session.exchange import ontology_program
from tidelog.shell.terminal import say


@click.group("rdf")
def command() -> None:
    """Turn ontologies into rules."""


@command.command("rules")
@click.argument("ontology", type=click.Path(path_type=Path))
@click.option("--relations", is_flag=True, help="A relation for each class and property instead of triples.")
def rules(ontology: Path, relations: bool) -> None:
    """Print a program with the rules of an ontology."""
    say(ontology_program(ontology, relations=relations).rstrip("\n"))
