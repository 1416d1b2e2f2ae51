"""N-Triples and N-Quads by columns: the fast twin of `ntriples.read_lines`, which gives the same or gives up (None).

Lines are split at their first two blanks, since no subject or predicate holds one; what is left is the object, in a
file of quads perhaps with a graph. Arrow numbers the distinct texts, so each is read once, with the grammar of the slow
reader. Whatever is written otherwise than most programs write it, such as with tabs, is left to that reader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tidelog.base.process.meter import ask
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.values import Variant
from tidelog.logic.std.terms import TERM_TEXT, blank, term_of
from tidelog.session.formats.delimited import read_whole
from tidelog.session.formats.rdf.graph import Graph, Places


class _Unusual(Exception):  # noqa: N818  (never leaves this module)
    """The slow reader must look."""


def read_columns(path: Path, *, quads: bool, tuning: Files = DEFAULT.files) -> Graph | None:
    """Return what a file holds, or None if the slow reader must look."""
    try:
        with pa.input_stream(str(path)) as file:
            data = read_whole(file)
        return _graph(data, quads=quads, tuning=tuning)
    except (_Unusual, pa.ArrowInvalid, OSError, UnicodeDecodeError):
        return None


def _graph(data: bytes, *, quads: bool, tuning: Files) -> Graph | None:
    lines = _lines(data, tuning)
    if not len(lines):
        return Graph([], np.empty((4, 0), np.int64))
    pieces = pc.split_pattern(lines, " ", max_splits=2)
    if not pc.all(pc.equal(pc.list_value_length(pieces), 3)).as_py():
        raise _Unusual
    ask(8 * len(data))
    parts = pc.list_flatten(pieces)
    count = len(parts) // 3
    starts = np.arange(0, 3 * count, 3)
    subjects, predicates, rest = (parts.take(pa.array(starts + place)) for place in range(3))
    objects, graphs = _object_and_graph(rest, quads=quads)
    found = pa.chunked_array([subjects, predicates, objects, *([] if graphs is None else [graphs])])
    coded = found.dictionary_encode().unify_dictionaries()
    terms = _terms(coded.chunk(0).dictionary.to_pylist())
    columns = [chunk.indices.to_numpy(zero_copy_only=False).astype(np.int64) for chunk in coded.chunks]
    return Graph(*_checked(terms, columns, count))


def _lines(data: bytes, tuning: Files) -> Any:
    """Return the lines that are neither empty nor comments, without the dot at their ends."""
    if b"\x01" in data or not data:
        raise _Unusual
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=["line"], block_size=max(tuning.block_bytes, _longest(data))),
        parse_options=csv.ParseOptions(delimiter="\x01", quote_char=False, escape_char=False),
        convert_options=csv.ConvertOptions(column_types={"line": pa.string()}, strings_can_be_null=False),
    )
    lines = table.column(0).combine_chunks()
    unusual = pc.or_(pc.starts_with(lines, "#"), pc.starts_with(lines, " "))
    if pc.any(unusual).as_py():
        lines = lines.filter(pc.invert(pc.starts_with(lines, "#")))
    if not pc.all(pc.ends_with(lines, " .")).as_py():
        raise _Unusual
    return pc.binary_slice(lines.cast(pa.binary()), 0, -2).cast(pa.string())


def _longest(data: bytes) -> int:
    """Return the length of the longest line, which must fit in a block."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    return int(np.diff(ends, prepend=-1, append=len(data)).max()) + 2


def _object_and_graph(rest: Any, *, quads: bool) -> tuple[Any, Any]:
    """Split what follows the predicate: a graph stands behind the last blank, if that is outside of a text."""
    if not quads:
        return rest, None
    named = pc.match_substring_regex(rest, r'^(?:[^"]|".*"\S*) (?:<[^ ]*>|_:\S+)$')
    with_graph = pc.or_(named, pc.match_substring_regex(rest, r"^[^\" ]+ \S+$"))
    split = pc.list_flatten(pc.split_pattern(rest.filter(with_graph), " ", max_splits=1, reverse=True))
    if len(split) % 2:
        raise _Unusual
    pairs = np.arange(0, len(split), 2)
    objects = pc.replace_with_mask(rest, with_graph, split.take(pa.array(pairs)))
    graphs = pc.replace_with_mask(pa.array([""] * len(rest)), with_graph, split.take(pa.array(pairs + 1)))
    return objects, graphs


def _terms(texts: list[str]) -> list[Variant | None]:
    read = TERM_TEXT.fullmatch
    terms: list[Variant | None] = []
    for text in texts:
        found = read(text)
        if found is None and text:
            raise _Unusual
        try:
            terms.append(None if found is None else term_of(found))
        except ValueError:
            raise _Unusual from None
    return terms


def _checked(terms: list[Variant | None], columns: list[Places], count: int) -> tuple[list[Any], Places]:
    """Return terms and rows if each stands where the grammar lets it."""
    kinds = np.array(["-" if term is None else "ibl"[term.position] for term in terms], "U1")
    allowed = [np.isin(kinds, [*letters]) for letters in ("ib", "i", "ibl", "ib-")]
    if not all(fits[places].all() for fits, places in zip(allowed, columns, strict=False)):
        raise _Unusual
    graphs = np.where(kinds[columns[3]] == "-", -1, columns[3]) if len(columns) > 3 else np.full(count, -1, np.int64)
    # The empty text of the default graph is no term; nothing stands at its place.
    return [blank("") if term is None else term for term in terms], np.stack([*columns[:3], graphs])
