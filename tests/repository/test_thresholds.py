"""A constant that chooses how something is computed is a threshold of the table (`base.tuning`), and nothing else is.

Every number that a module keeps under a name of its own must be in `OTHERWISE`, with what it is instead of a choice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tidelog.base.tuning.table import all_thresholds

SOURCE = Path(__file__).parents[2] / "src" / "tidelog"
FOLDERS = ("base", "lang", "logic", "plan", "run", "session")
"""Folders whose modules, and those in folders inside them, have no number that chooses."""

OTHERWISE = {
    # What a machine, a format or another program can do.
    "base/text/integers.py": {"DIGITS", "_SMALL"},  # digits that Python converts at once
    "run/spark/rules/aggregate.py": {"_SUM_WIDTH"},  # widths at which a long does not overflow
    "run/spark/frames/encode.py": {"SIGN", "WORD"},
    "run/spark/cluster/memory.py": {"BASE", "LEAST", "MEBIBYTE"},  # what Python takes without data
    "run/spark/frames/relation.py": {"_CELL", "_TEXT"},  # bytes of cells
    "run/spark/frames/rows.py": {"_SAMPLE", "BATCH_BYTES"},  # rows looked at; bytes of a message
    "run/spark/store.py": {"RELIEF"},  # times more partitions when memory was short
    "base/process/java.py": {"NEEDED"},  # the version of Java that Spark needs
    "run/spark/rules/scalars.py": {"_SUM_WIDTH", "_PRODUCT_WIDTH"},  # widths at which a long does not overflow
    "run/spark/frames/sets.py": {"_MOST"},  # below what a word holds; `test_sets` has rows on both sides
    "run/dbsp/zsets/zset.py": {"_SAFE"},  # below what a word holds: beyond it is an error
    "base/plain/write.py": {"LONG"},  # bits of numbers that Python shows at once
    "session/frames/rows.py": {"WIDEST"},  # bits of a number in an array
    # Bounds of the language, which programs can see.
    "base/types.py": {"LARGEST"},
    "base/process/calls.py": {"MOST_CALLS", "FRAMES"},  # what the stack of a thread holds
    "base/process/growth.py": {
        "NUMBER",
        "PER_BYTE",
        "PER_PART",
        "POINTER",
        "TEXT",
        "WIDE",
    },  # sizes and times, for limits
    "base/values.py": {"LONGEST", "SORTING"},
    "lang/parse/cursor.py": {"MAX_DEPTH"},
    "lang/parse/lex.py": {"MAX_STRINGS"},
    "logic/infer/exhaustive.py": {"_ENUMERABLE_BITS"},
    "logic/infer/inference.py": {"DEEPEST"},  # depth of nesting
    "logic/infer/finish.py": {"_MANY"},  # chains of operands that are checked without nesting
    "logic/check/instantiate.py": {"_DEEPEST_TYPE", "MOST_INSTANCES"},
    "logic/passes.py": {"MOST_WAYS", "MOST_LITERALS"},
    "logic/names/resolve.py": {"MAX_WIDTH"},
    "logic/names/unify.py": {"MOST_STEPS"},
    "logic/check/check_time.py": {"MOST_COMMITS"},  # how far back a rule may look
    "logic/check/warn.py": {"_SMALL"},
    "run/dbsp/zsets/stream.py": {"LONGEST"},  # of the library: a stream without a 0 in that many steps is an error
    "run/dbsp/circuits/clock.py": {"DEEPEST"},  # of the library: loops nested deeper are an error
    "logic/std/texts/hashes.py": {"SEED1", "SEED2", "_MASK"},  # of a hash
    "logic/std/scalars.py": {"LONG"},  # texts that are measured before
    "logic/std/texts/documents.py": {"READ", "WRITTEN"},  # sizes of JSON, for limits
    "logic/std/texts/patterns.py": {"LONGEST", "MEMORY", "WORK"},  # of a regular expression
    # How closely limits are watched.
    "base/process/meter.py": {"STEPS", "LARGE", "TOGETHER", "PIECE"},
    "run/columnar/rules/aggregate.py": {"MEMBER"},  # bytes
    "run/columnar/rules/scalars.py": {"REMEMBERED"},  # bytes
    "run/threads.py": {"AT_ONCE"},
    "session/store.py": {"ROW_BYTES"},
    # How text is laid out, and how much of it is shown.
    "base/text/show.py": {"_TIGHT"},  # more than any operator
    "lang/format/format.py": {"WIDTH", "_PASSES"},
    "lang/format/expressions.py": {"UNARY", "POSTFIX", "TERM"},
    "lang/format/layout.py": {"INDENT", "ENDLESS"},
    "lang/parse/expressions.py": {"COMPARISON"},
    "logic/infer/mismatch.py": {"_SHORT"},
    "run/limits.py": {"MANY", "INTERVAL"},  # no limit on rounds; seconds between two reports of progress
    "session/formats/mistakes.py": {"SHOWN"},
    "session/frames/tabular.py": {"SHOWN"},
    # Codes and names.
    "run/closure/plain.py": {"NEVER"},
    "run/closure/kernels/changes.py": {"NEVER"},
    "run/columnar/storage/dictionary.py": {"SMALL"},  # integers that are codes of their own
    "run/columnar/storage/layout.py": {"FULL", "MIDDLE"},  # the greatest word, and the code of zero
    "run/columnar/kernels/__init__.py": {"HERE", "LOST", "DOUBTFUL"},
    "run/columnar/machine/kernels/operands.py": {  # what stands where in lines of numbers
        *("VARIANT", "STEP", "FIELD", "BATCH", "COUNTS_LEFT", "LIFTS", "MEMBERS", "ORDER", "ANSWER"),
        *("TOO_MANY", "NOTHING", "PLACES", "UNCOUNTED"),
    },
    "run/columnar/machine/kernels/losing.py": {"DYING", "REMOVED"},
    "run/columnar/machine/kernels/proving.py": {"PASSED"},
    "run/columnar/kernels/ranks.py": {"ROOM", "APART"},  # how ranks stand in 32 bits
    "run/columnar/kernels/memory.py": {"ALIVE"},
    "run/maintain/elastic.py": {"LOST", "GAINED"},
    "logic/std/groups.py": {"_UNIT"},  # the least part of a double
    "plan/join/assemble.py": {"EVERYTHING"},
    "plan/rewrite/rederive.py": {"HEAD"},
    "plan/stratify.py": {"POSITIVE", "NEGATIVE", "AGGREGATE"},
    "run/dbsp/rewriting/kit.py": {"LEVEL"},
    "run/dbsp/translate.py": {"STORED"},
    "run/dbsp/zsets/values.py": {"FIRST"},
    "run/phases.py": {"ALIVE", "DYING", "REMOVED", "GARBAGE"},
    "run/tuples/algebra.py": {"RANK"},
    "run/kernel_cache.py": {"WORD"},
    "base/diagnostic.py": {"WIDEST", "LONGEST"},  # what is shown of a line and of a message
    "base/plain/read.py": {"DIGITS"},  # of a number that is read at all
    "logic/std/datatypes.py": {"LONGEST"},
    "session/formats/delimited.py": {
        "PIECE",
        "LOOKED_AT",
        "WIDE",
    },  # what is noted of a file; how an integer is written
    "session/formats/rdf/graph.py": {"TRIPLE", "QUAD"},  # columns
    "session/formats/rdf/ntriples.py": {"IRI", "LABEL", "TEXT"},
    "session/pipeline/sinks/exchange.py": {"_HERE", "_EXCHANGE"},  # what calls of the system are told
    "session/pipeline/state/carried.py": {"FORMAT"},
    "session/pipeline/places/data_file.py": {"LONGEST"},  # texts whose minimum and maximum a log keeps
    "session/pipeline/state/versions.py": {"FORMAT"},
    # What operations cost; the sum is compared with a budget of the table. CHECKED and GROUPED are estimates.
    "run/columnar/cost.py": {"CHECKED", "COMPARED", "GROUPED", "SHIFTED", "SIFTED"},
    "run/closure/functions.py": {"EDGE", "WORD", "WORDS", "PAIRS"},
    # Memory and patience: what is computed, and how, is the same.
    "session/pipeline/places/executors.py": {"PART_ROWS"},  # of a file that one task reads
    "session/pipeline/places/lease.py": {"PATIENCE"},  # seconds until a claim that nobody renews counts for nothing
    "session/pipeline/sinks/tables.py": {"ATTEMPTS"},  # to commit to a table that others commit to
    "session/pipeline/state/log.py": {"ANY", "LATELY"},  # no version; commits among which a lost one is looked for
    "session/pipeline/sources/watch.py": {"LOOK"},  # how often it is looked whether a stream has ended
    "base/process/lock.py": {"LOOK"},  # how often a thread that waits looks whether who it waits for is still there
    "run/maintain/rounds.py": {"_MOST_REDERIVATIONS"},  # trees that are kept; all are made again beyond it
    "base/process/gc_pause.py": {"MANY"},  # objects that the cycle collector is told to be old
    "run/spark/frames/named.py": {"_MOST"},  # Columns that are kept; all are made again beyond it
    "run/spark/cluster/explain.py": {"_PATIENCE"},  # seconds until a master that does not answer is not there
    "session/queries/goal.py": {"KEPT"},  # goals that stay planned; others are planned again
    "session/live_goals.py": {"IDLE"},  # goals that nobody watches stay in the plan; to drop them it is made anew
    "session/queries/tables.py": {"UNUSED"},  # commits after which a table that nobody uses goes
    "run/spark/frames/recovery.py": {"ATTEMPTS"},  # how often an update is tried when executors are lost
    # What a soak looks at.
    "session/soak/sized/at_size.py": {"FEW"},
    "session/soak/draw/families.py": {"LENGTH"},
    "session/soak/following.py": {"WATCHED", "TRIES"},
    "session/soak/poison.py": {"BYTE"},
    "session/soak/soak.py": {"MANY"},
}


def numbers(tree: ast.Module) -> Iterator[str]:
    """Yield the names under which a module, or a class in it, keeps numbers; small letters are for what changes."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    for statement in (statement for body in bodies for statement in body):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=True))
            case ast.Assign(targets=targets, value=value):
                pairs = [(target, value) for target in targets]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = [(target, value)]
            case _:
                continue
        found = [name.id for name, value in pairs if isinstance(name, ast.Name) and is_number(value)]
        yield from (name for name in found if name.isupper())


def is_number(node: ast.expr) -> bool:
    """Tell whether an expression is calculated from numbers."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) or is_number(right)
        case _:
            return False


def modules() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (SOURCE / folder).rglob("*.py")


def test_no_number_chooses_but_those_of_the_table() -> None:
    found = {}
    for path in modules():
        names = set(numbers(ast.parse(path.read_text())))
        if names:
            found[path.relative_to(SOURCE).as_posix()] = names
    assert found == OTHERWISE


def test_numbers_are_seen() -> None:
    text = "A = 1\nB, C = 1 << 4, 2.0\nD: Final = -3\nE = D * 3\nF = 'x'\nG = True\nH = f(2)\n"
    text += "class I:\n    J = 4\n    k: int = 0\n"
    assert list(numbers(ast.parse(text))) == ["A", "B", "C", "D", "E", "J"]


def reasons() -> Iterator[tuple[str, str | None]]:
    """Yield the name of each field that is a threshold, and the docstring below it."""
    for path in (SOURCE / "base").rglob("*.py"):
        classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        for first, second in (pair for one in classes for pair in pairwise([*one.body, ast.Pass()])):
            match first, second:
                case ast.AnnAssign(ast.Name(name), value=ast.Call(ast.Name("threshold"))), ast.Expr(ast.Constant(text)):
                    yield name, text if isinstance(text, str) else None
                case ast.AnnAssign(ast.Name(name), value=ast.Call(ast.Name("threshold"))), _:
                    yield name, None
                case _:
                    pass


def test_every_threshold_has_a_reason_below_it() -> None:
    found = list(reasons())
    assert sorted(name for name, _ in found) == sorted(name.partition(".")[2] for name, _ in all_thresholds())
    assert [name for name, reason in found if reason is None or not reason.endswith(".")] == []


ENGINES = {"run/columnar/engine.py", "run/columnar/functions.py", "run/closure/functions.py"}
"""Where the table in use is named: as what an engine has unless it is given another."""


def test_the_table_is_passed_on() -> None:
    """Nothing in these folders looks at the table in use where it should look at the one that the engine was given."""
    found = set()
    for path in (
        path for folder in ("closure", "columnar", "maintain") for path in (SOURCE / "run" / folder).rglob("*.py")
    ):
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        if any(one.name in {"DEFAULT", "usual"} for node in imports for one in node.names):
            found.add(path.relative_to(SOURCE).as_posix())
    assert found == ENGINES
