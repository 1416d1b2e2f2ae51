"""In Python what the programs of DDlog's test suite have in Rust."""

import tidelog

externs = tidelog.Externs()


@externs.register("string_slice_unsafe", "function(string, bit<64>, bit<64>): string")
def string_slice_unsafe(text: str, start: int, end: int) -> str:
    return text.encode()[start:end].decode()
