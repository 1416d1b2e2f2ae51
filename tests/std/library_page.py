"""Makes docs/library.md from the comments of the library's modules: `python -m tests.std.library_page` writes it.

A comment above a declaration describes it and the declarations that follow without one; `// # Title` starts a section;
the first comment of a module describes the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import FunctionDef, Import, Prefix, RelationDef, RuleDef, TransformerDef, TypeDef
from tidelog.logic.names.modules import SHIPPED

PAGE = Path(__file__).parents[2] / "docs" / "library.md"
ORDER = (
    "std",
    "vec",
    "set",
    "hashset",
    "tinyset",
    "map",
    "group",
    "internment",
    "intern",
    "graph",
    "fp",
    "regex",
    "time",
    "json",
    "base64",
    "uuid",
    "url",
    "allocate",
    "print",
    "log",
    "log4j",
    "net::ipv4",
    "net::ipv6",
    "net::ipaddr",
    "souffle_types",
    "souffle_lib",
    "ovsdb",
    "rdf",
    "rdf::graph",
    "rdf::rdfs",
    "rdf::owl2rl",
    "rdf::owl2rl::rules",
    "rdf::owl2rl::datatypes",
)
INTRODUCTION = """\
# The library

Made from the comments in `src/tidelog/logic/std` by `python -m tests.std.library_page`.

The module `std` is the prelude: every program has it. The others are imported by name, as in `import regex`.
`f(x, y)` may be written `x.f(y)`. `'A` stands for any type. Aggregates say whether they see *distinct values* (a value
counts once) or *derivations* (a value counts as often as the grouped body derives it: once for each choice of the
body's tuples). Equal elements of one `FlatMap` are one derivation.

Names and types are DDlog's. What differs, but in [its dialect](ddlog.md), where groups and hashes are DDlog's, too:

* a group holds values, not the tuples they come from: `count_distinct`, `to_vec`, `map` and their kin see equal values
  once, and `count`, `sum`, `mean`, `collect` see them as often as they are derived;
* lengths and positions in strings count characters, not bytes;
* `hash32`, `hash64` and `hash128` give other numbers, which never change;
* some regular expressions of Rust's crate are refused: see `regex`;
* dates, times, patterns and addresses are structs, so facts can contain them;
* `Ref` and `Intern` cost nothing and change nothing: values are shared anyway.
"""


def page() -> str:
    """Return the text of docs/library.md."""
    return "\n".join([INTRODUCTION, *(line for module in ORDER for line in describe(module))])


def describe(module: str) -> Iterator[str]:
    """The lines of one module."""
    source = Source(module, (SHIPPED / f"{module.replace('::', '/')}.dl").read_text(encoding="utf-8"))
    lines = source.text.split("\n")
    starts = {}
    for declaration in parse(source, Report()).declarations:
        if isinstance(declaration, Import | Prefix | RuleDef):
            continue
        assert isinstance(declaration, FunctionDef | TypeDef | RelationDef | TransformerDef)
        starts[source.position(declaration.span.start)[0]] = signature(declaration, source.text)
    yield f"## `{module}`\n"
    comment: list[str] = []
    block: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("//"):
            yield from fenced(block)
            block = []
            comment.append(line[2:].strip())
        elif number in starts:
            if not block:
                yield from described(comment)
                comment = []
            block.append(starts[number])
        elif not line:
            yield from fenced(block)
            block = []
            yield from described(comment)
            comment = []
    yield from fenced(block)


def described(comment: list[str]) -> Iterator[str]:
    """A comment as Markdown."""
    if comment and comment[0].startswith("# "):
        yield f"### {comment[0][2:]}\n"
    elif comment:
        yield "\n".join(comment) + "\n"


def fenced(block: list[str]) -> Iterator[str]:
    """Signatures as a block that is not run."""
    if block:
        yield "\n".join(["```text", *block, "```", ""])


def signature(declaration: FunctionDef | TypeDef | RelationDef | TransformerDef, text: str) -> str:
    """A declaration without its body."""
    if not isinstance(declaration, FunctionDef):
        return " ".join(declaration.span.text.removeprefix("extern ").split())
    assert declaration.result is not None
    written = text[declaration.span.start : declaration.result.span.end]
    return " ".join(written.removeprefix("extern ").split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
