"""Every example in README.md, docs/ and the READMEs of examples/ runs.

A ```` ```python ```` block runs as written, or as a doctest if it has prompts; the blocks of one document share their
names. In a ```` ```console ```` block each ``$ command`` runs in bash and must print the lines below it, where ``...``
stands for anything; without such lines it must only succeed. A ```` ```datalog ```` block is a whole program, which is
evaluated; in a ```` ```rows ```` block below it are all tuples of some of its relations. Blocks in other languages are
not run. The blocks of one document run in order, in a fresh folder which holds
the repository's examples/.
"""

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tidelog
from tidelog.base.text.write import show_value
from tidelog.session.database import plan_of

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCED = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# A command ends with the first line that no backslash continues.
STEP = re.compile(r"(?P<command>(?:.*\\\n)*.*)\n(?P<output>(?s:.*))")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and the line of the document on which the text starts."""

    language: str
    text: str
    line: int


def blocks(document: str) -> list[Block]:
    return [
        Block(found["language"], found["text"], document.count("\n", 0, found.start("text")) + 1)
        for found in FENCED.finditer(document)
    ]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output it promises."""
    head, *steps = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not head, f"a console block starts with a command, not with {head!r}"
    return [(found["command"], found["output"]) for found in map(STEP.fullmatch, steps) if found]


def agrees(promised: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(promised.rstrip() + "\n", printed.rstrip() + "\n", doctest.ELLIPSIS)


def run_console(block: Block, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
    for command, promised in commands(block.text):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert not promised or agrees(promised, done.stdout), f"{command}\nprinted\n{done.stdout}"
        assert promised or done.returncode == 0, f"{command}\nfailed\n{done.stdout}"


def run_python(block: Block, document: Path, names: dict[str, Any]) -> None:
    if block.text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block.text, names, document.name, str(document), block.line - 1)
        report: list[str] = []
        outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        assert not outcome.failed, "".join(report)
    else:
        # The empty lines make a traceback point to the line of the document.
        exec(compile("\n" * (block.line - 1) + block.text, str(document), "exec"), names)


def rows(db: tidelog.Database, names: set[str]) -> list[str]:
    """All tuples of some relations of a database, as a `rows` block has them."""
    return [
        f"{name}({', '.join(show_value(*cell, plan_of(db).types) for cell in zip(row, types, strict=True))})"
        for name, relation in plan_of(db).relations.items()
        if name in names
        for types in [[column.type for column in relation.columns]]
        for row in db.relation(name).rows()
    ]


def runs(block: Block) -> bool:
    return block.language in {"python", "console", "datalog"}


@pytest.mark.parametrize(
    "document",
    [document for document in DOCUMENTS if any(map(runs, blocks(document.read_text())))],
    ids=lambda document: str(document.relative_to(ROOT)),
)
def test_examples_of(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(document.read_text()):
        if block.language == "python":
            run_python(block, document, names)
        elif block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "datalog":
            db = tidelog.Database(block.text)
        elif block.language == "rows":
            promised = block.text.splitlines()
            assert rows(db, {line.partition("(")[0] for line in promised}) == promised, f"line {block.line}"


def test_every_fence_is_closed_and_named() -> None:
    for document in DOCUMENTS:
        text = document.read_text()
        assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks(text)), document


SAMPLE = """\
Words.

```python
x = 1
```

```console
$ echo one \\
    two
one two
$ true
```

```python
>>> x + 1
2
```
"""


def test_blocks_are_found_with_their_lines() -> None:
    assert [(block.language, block.line) for block in blocks(SAMPLE)] == [("python", 4), ("console", 8), ("python", 15)]
    assert commands(blocks(SAMPLE)[1].text) == [("echo one \\\n    two", "one two\n"), ("true", "")]


def test_blocks_run_and_share_names(tmp_path: Path) -> None:
    first, shell, second = blocks(SAMPLE)
    names: dict[str, Any] = {}
    run_python(first, Path("sample.md"), names)
    run_console(shell, tmp_path)
    run_python(second, Path("sample.md"), names)
    assert names["x"] == 1


@pytest.mark.parametrize("text", ["$ echo one\ntwo\n", "$ false\n"])
def test_a_wrong_console_block_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_console(Block("console", text, 1), tmp_path)


@pytest.mark.parametrize("text", ["assert x == 2\n", ">>> x\n2\n"])
def test_a_wrong_python_block_fails(text: str) -> None:
    with pytest.raises(AssertionError):
        run_python(Block("python", text, 1), Path("sample.md"), {"x": 1})
