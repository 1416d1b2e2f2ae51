"""Functions of plain values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tidelog.base.extern import Externs

EXTERNS = externs = Externs()


@dataclass
class Circle:
    """Named like its constructor."""

    center: dict[str, int]
    radius: int


@externs.register("parse")
def parse(text: str) -> Any:
    """Read a point, as a dictionary."""
    x, comma, y = text.partition(",")
    return {"x": int(x), "y": int(y)} if comma else None


@externs.register("grown")
def grown(shape: dict[str, Any], by: int) -> Any:
    """Return a shape as an object, as a name, or as it came."""
    if shape["tag"] == "Dot":
        return "Dot"
    return Circle(shape["center"], shape["radius"] + by) if shape["tag"] == "Circle" else shape


@externs.register("color")
def color(point: dict[str, int] | None) -> str:
    """Return the name of a constructor."""
    return "Red" if point is None else "Green"


@externs.register("moved")
def moved(point: dict[str, int], by: tuple[int, int]) -> tuple[bool, dict[str, int]]:
    """Return the result and the new value of the parameter."""
    return True, {"x": point["x"] + by[0], "y": point["y"] + by[1]}


@externs.register("each")
def each(f: Callable[[Any], int | None], points: tuple[dict[str, int], ...]) -> dict[str, int | None]:
    """Call a function of the program with plain values."""
    return {str(point["y"]): f(point) for point in points}
