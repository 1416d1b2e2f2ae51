"""Functions of structured values."""

from tidelog.base.extern import Externs
from tidelog.base.values import NONE, Variant, some

EXTERNS = externs = Externs()


@externs.register("halves")
def halves(n: int) -> Variant:
    """Return both halves of an even number."""
    return NONE if n % 2 else some((n // 2, n // 2))


@externs.register("spread")
def spread(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the letters of all words."""
    return tuple(letter for word in words for letter in word)
