"""Which of several functions of one name a call means: by the number of arguments, then by their types.

A function fits if its parameter types may equal the argument types, its type variables being free. Of several that fit,
one that is more special than all others is taken, and one of a nearer module over an equal one of a farther module
(`std` is the farthest). The result type decides only what the arguments leave open.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base.record import record
from tidelog.base.types import Function, Type, TypeVariable, parts, same_form
from tidelog.lang.syntax import Path
from tidelog.logic.names.environment import Signature
from tidelog.logic.names.names import INTERNMENT, STD
from tidelog.logic.names.unify import ERROR, Unifier, is_unknown


@record
class Closure:
    """What is known of an argument that is a lambda before the function is chosen: how many parameters it has."""

    parameters: int


Known = Type | Closure | None
"""What is known of an argument; None for a function name, which fits any function type."""


def fitting(types: Unifier, signatures: Sequence[Signature], arguments: Sequence[Known]) -> list[Signature]:
    """Return the functions that the arguments fit, as far as they are known."""
    return [
        s
        for s in signatures
        if len(s.parameters) == len(arguments)
        and all(_fits(types, p.type, a) for p, a in zip(s.parameters, arguments, strict=True))
    ]


def _fits(types: Unifier, declared: Type, argument: Known) -> bool:
    match argument:
        case None:
            return isinstance(declared, Function | TypeVariable)
        case Closure(parameters):
            return isinstance(declared, TypeVariable) or (
                isinstance(declared, Function) and len(declared.parameters) == parameters
            )
        case _:
            return types.fits(declared, argument)


def choose(
    types: Unifier, fits: Sequence[Signature], arguments: Sequence[Known], result: Type, here: Path
) -> Signature | None:
    """Return the one function to take, or None as long as the arguments leave several; `here` is the module."""
    if len(fits) == 1:
        return fits[0]
    known = [types.zonk(a) if not isinstance(a, Closure | None) else a for a in arguments]
    best = _most_special(fits, here)
    if best is not None and (
        same_parameters(fits) or all(_decided(p.type, a) for p, a in zip(best.parameters, known, strict=True))
    ):
        return best
    returning = [s for s in fits if types.fits(s.result, result)]
    return returning[0] if len(returning) == 1 and not is_unknown(types.resolve(result)) else None


def without_interned(fits: Sequence[Signature]) -> Sequence[Signature]:
    """Leave out functions of interned strings where others fit, too, and nothing said that a string is interned."""
    others = [s for s in fits if s.environment.module != INTERNMENT]
    return others or fits


def _most_special(fits: Sequence[Signature], here: Path) -> Signature | None:
    for candidate in fits:
        if all(candidate is other or _is_before(candidate, other, here) for other in fits):
            return candidate
    return None


def _is_before(candidate: Signature, other: Signature, here: Path) -> bool:
    """Tell whether a function is more special than another one, or equal and of a nearer module."""
    if not _covers(other, candidate):
        return False
    return not _covers(candidate, other) or _distance(candidate, here) < _distance(other, here)


def _distance(signature: Signature, here: Path) -> int:
    module = signature.environment.module
    return 0 if module == here else 2 if module == STD else 1


def same_parameters(signatures: Sequence[Signature]) -> bool:
    """Tell whether functions differ only in the module they stand in."""
    first, *rest = signatures
    return all(_covers(first, other) and _covers(other, first) for other in rest)


def _covers(general: Signature, special: Signature) -> bool:
    """Tell whether every argument list that fits the special one fits the general one."""
    bound: dict[str, Type] = {}
    return all(_instance(g.type, s.type, bound) for g, s in zip(general.parameters, special.parameters, strict=True))


def _instance(general: Type, special: Type, bound: dict[str, Type]) -> bool:
    if isinstance(general, TypeVariable):
        return bound.setdefault(general.name, special) == special
    pairs = zip(parts(general), parts(special), strict=False)
    return same_form(general, special) and all(_instance(a, b, bound) for a, b in pairs)


def _decided(declared: Type, argument: Known) -> bool:
    """Tell whether an argument is known as far as the declared type says something."""
    if isinstance(declared, TypeVariable) or isinstance(argument, Closure | None) or argument is ERROR:
        return True
    if is_unknown(argument):
        return False
    return isinstance(declared, Function) or all(map(_decided, parts(declared), parts(argument)))


def number_of_arguments(signatures: Sequence[Signature]) -> str:
    """Write how many arguments functions take.

    >>> number_of_arguments([])
    'no arguments'
    """
    counts = sorted({len(s.parameters) for s in signatures}) or [0]
    shown = " or ".join(str(count) if count else "no" for count in counts)
    return f"{shown} argument{'' if counts == [1] else 's'}"
