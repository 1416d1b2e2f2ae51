"""Records behave as frozen dataclasses with slots do, and compile nothing before they are used."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

import pytest

from tidelog.base.record import record

L = TypeVar("L")


@record
class Plain:
    """Fields of all kinds."""

    a: int
    set: tuple[int, ...]
    b: list[int] = field(default_factory=list)
    span: int = field(default=7, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Twin:
    """The same as a dataclass."""

    a: int
    set: tuple[int, ...]
    b: list[int] = field(default_factory=list)
    span: int = field(default=7, compare=False, repr=False)


@record
class Empty:
    """No field."""


@record
class One:
    """One field."""

    x: float


@record
class Of(Generic[L]):
    """A generic one, with a value of its own making and methods of its own."""

    items: tuple[L, ...]
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.items))

    def __repr__(self) -> str:
        return f"<{self.size}>"


def test_a_record_is_what_its_dataclass_is() -> None:
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1, (2,)), {}),
        ((1,), {"set": (2,), "span": 8}),
        ((1, (2,), [3], 9), {}),
    ]
    for arguments, named in given:
        ours, theirs = Plain(*arguments, **named), Twin(*arguments, **named)
        assert repr(ours) == repr(theirs).replace("Twin", "Plain")
        assert asdict(ours) == asdict(theirs)
        for more, other in given:
            assert (ours == Plain(*more, **other)) == (theirs == Twin(*more, **other))
            assert (ours != Plain(*more, **other)) == (theirs != Twin(*more, **other))
    assert Plain.__match_args__ == Twin.__match_args__
    assert [f.name for f in fields(Plain)] == [f.name for f in fields(Twin)]
    twin: object = Twin(1, ())
    assert Plain(1, ()) != twin
    assert Plain(1, ()).b is not Plain(1, ()).b


def test_equal_records_hash_equally() -> None:
    nan = float("nan")
    assert hash(Of((1, 2))) == hash(Of((1, 2)))
    assert hash(Empty()) == hash(Empty())
    assert Empty() == Empty()
    assert One(nan) == One(nan), "as tuples of their fields: the same object is equal"
    assert replace(Plain(1, (), [], 3), span=4) == Plain(1, (), [], 5)


@pytest.mark.parametrize("change", [lambda one: setattr(one, "a", 2), lambda one: delattr(one, "a")])
def test_a_record_does_not_change(change: Callable[[Plain], None]) -> None:
    one = Plain(1, (2,))
    with pytest.raises(FrozenInstanceError, match="the field 'a' of a Plain"):
        change(one)
    assert one == Plain(1, (2,))
    assert not hasattr(one, "__dict__")


def test_records_are_copied_and_sent() -> None:
    one = Plain(1, (2,), [3], 4)
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (other, other.span) == (one, 4)
    assert repr(pickle.loads(pickle.dumps(Of((1, 2))))) == "<2>"


def test_methods_are_compiled_when_called() -> None:
    @record
    class Late:
        """Nothing is compiled yet."""

        x: int

    awaited = Late.__init__, Late.__eq__, Late.__hash__
    blank = Late.__new__(Late)  # as one that is unpickled
    blank.__setstate__([1])  # type: ignore[attr-defined]
    assert (Late.__init__, Late.__eq__, Late.__hash__) == awaited
    assert {blank} == {Late(1)}
    assert all(now is not then for now, then in zip((Late.__init__, Late.__eq__, Late.__hash__), awaited, strict=True))
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        Late()  # type: ignore[call-arg]
