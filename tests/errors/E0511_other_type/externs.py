from tidelog.base.extern import Externs

externs = Externs()


@externs.register("shout", "function(string, bool): string")
def shout(s: str, loud: bool) -> str:
    return s.upper() if loud else s


@externs.register("swap", "function(('X, 'Y)): ('Y, 'X)")
def swap(p: tuple[object, object]) -> tuple[object, object]:
    return p[1], p[0]


@externs.register("twice", "function(bit<32): bit<64>")
def twice(x: int) -> int:
    return 2 * x
