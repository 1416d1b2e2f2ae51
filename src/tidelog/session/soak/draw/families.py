"""The kinds of histories that a soak draws from: small programs of every sort, some with wide rows, some with keys.

| family | programs |
| --- | --- |
| `grow` | rules of every kind, few facts of many types |
| `closures` | closures of every form, with strata below and above |
| `mixed` | closures among other rules: fed, inverse, equal, several in a stratum, triples by property |
| `graphs`, `paired` | well-known programs over graphs: hubs, chains, trees, many small components |
| `sparse` | closures of graphs of many small components |
| `wide` | rules of every kind over rows that are wider than a word, with more facts |
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tidelog.session.soak.draw.closures import Closures
from tidelog.session.soak.draw.graphs import PAIRED, graph_history, sparse_history
from tidelog.session.soak.draw.grow import grow
from tidelog.session.soak.draw.mixed import mixed_history
from tidelog.session.soak.histories import History, history_of, random_history
from tidelog.session.soak.spec import Kind

LENGTH = 10
WIDE: tuple[Kind, ...] = ("int", "str", "word", "wide")


def _grown(random: Random) -> History:
    return random_history(random, random.choice((4, LENGTH)))


def _closures(random: Random) -> History:
    return history_of(Closures(random, mixed=random.random() < 0.3).program(), random, LENGTH)


def _graphs(random: Random) -> History:
    return graph_history(random, random.choice((0.04, 0.1, 0.2)))


def _paired(random: Random) -> History:
    return graph_history(random, random.choice((0.04, 0.1, 0.2)), PAIRED)


def _wide(random: Random) -> History:
    return history_of(grow(random, kinds=WIDE, wide=True), random, LENGTH)


FAMILIES: tuple[tuple[Callable[[Random], History], int], ...] = (
    (_grown, 3),
    (_closures, 3),
    (_graphs, 2),
    (_wide, 4),
    (_paired, 4),
    (sparse_history, 3),
    (mixed_history, 3),
)


def draw_history(random: Random) -> History:
    """Return a history of some family."""
    (family,) = random.choices([one for one, _ in FAMILIES], [weight for _, weight in FAMILIES])
    return family(random)
