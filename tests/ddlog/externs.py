"""In Python what the programs of DDlog's test suite have in Rust."""

import tidelog

externs = tidelog.Externs()


@externs.register("string_slice_unsafe", "function(string, bit<64>, bit<64>): string")
def string_slice_unsafe(text: str, start: int, end: int) -> str:
    return text.encode()[start:end].decode()


@externs.register("inspect_log::log")
def log(filename: str, message: str) -> None:
    """Write nothing: nobody compares logs."""


@externs.register("f")
def f() -> int:
    return 0


@externs.register("g")
def g(a: int) -> int:
    return 0


@externs.register("h")
def h(a: tuple[int, int]) -> tuple[int, int]:
    return 0, 0


@externs.register("parameterized", proper=True)
def parameterized(x: object, y: object) -> object:
    return x
