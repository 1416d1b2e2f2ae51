r"""N-Triples and N-Quads by columns: the fast twin of `ntriples.read_lines`, which gives the same or gives up (None).

The bytes of a file are not copied. They are cut where lines end and at the blanks between terms, so that pieces which
are terms and pieces which are not take turns:

    <a>| |<b>| |"c d"| .\n|<a>| ...        six pieces a line; in a file of quads eight, perhaps two of them empty

Arrow numbers the distinct pieces, and each text that stands where a term does is read once, with the grammar of the
slow reader: what most programs write all at once, what is left one by one. Whatever is laid out otherwise than most
programs do it, such as with tabs, gives a piece that is no term, and is left to that reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.process.meter import ask, look
from tidelog.base.text.terms import TERM_TEXT, blank, iri, literal, term_of
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.values import Variant
from tidelog.session.formats.delimited import read_whole
from tidelog.session.formats.rdf.graph import Graph, Places

Bytes = npt.NDArray[np.uint8]
BLANK, BREAK, RETURN, DOT, HASH, QUOTE, LESS, UNDERSCORE = b' \n\r.#"<_'
USUAL: Sequence[tuple[str, slice, Callable[[str], Variant]]] = (
    (r'^<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|^`\\]*>$', slice(1, -1), iri),
    (r'^"[^"\\\r\n]*"$', slice(1, -1), literal),
    ("^_:[A-Za-z0-9_]+$", slice(2, None), blank),
)
"""How most terms are written, which part of the text matters, and what makes a term of that."""


class _Unusual(Exception):  # noqa: N818  (never leaves this module)
    """The slow reader must look."""


def read_columns(path: Path, *, quads: bool, tuning: Files = DEFAULT.files) -> Graph | None:
    """Return what a file holds, or None if the slow reader must look."""
    try:
        with pa.input_stream(str(path)) as file:
            return read_data(read_whole(file), quads=quads, tuning=tuning)
    except (pa.ArrowInvalid, OSError):
        return None


def read_data(data: bytes, *, quads: bool, tuning: Files = DEFAULT.files) -> Graph | None:
    """Return what the bytes of a file hold, or None if the slow reader must look."""
    try:
        with collector_paused():
            return _graph(data, quads=quads, tuning=tuning)
    except (_Unusual, pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _graph(data: bytes, *, quads: bool, tuning: Files) -> Graph:
    ask(2 * len(data))
    pieces = [
        piece for block in _blocks(data, tuning.block_bytes) if (piece := _pieces(block, quads=quads)) is not None
    ]
    if not pieces:
        return Graph([], np.empty((4, 0), np.int64))
    coded = pa.chunked_array(pieces).dictionary_encode().chunks
    texts, width = coded[0].dictionary, 8 if quads else 6
    look()
    columns = np.concatenate([chunk.indices.to_numpy().reshape(-1, width)[:, ::2] for chunk in coded]).T
    used = np.zeros(len(texts), np.bool_)
    for column in columns:
        used[column] = True
    numbers = np.cumsum(used) - 1
    return Graph(*_checked(_terms(texts.filter(pa.array(used))), numbers[columns]))


def _blocks(data: bytes, size: int) -> Iterator[memoryview]:
    """Yield whole lines, of this many bytes unless one alone has more."""
    view, start = memoryview(data), 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start + size) + 1 or len(data)
        if end - start > np.iinfo(np.int32).max:
            raise _Unusual
        yield view[start:end]
        start = end


def _pieces(block: memoryview, *, quads: bool) -> Any:
    """Return the pieces of a block, which are its own bytes; None if it has no line with a statement."""
    look()
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == BREAK)
    if data[-1] != BREAK:
        ends = np.append(ends, len(data))
    starts = np.append(0, ends[:-1] + 1)
    ends = ends - ((ends > starts) & (data[ends - 1] == RETURN))
    stated = (ends > starts) & (data[np.minimum(starts, len(data) - 1)] != HASH)
    starts, ends = starts[stated], ends[stated] - 2  # where " ." stands
    if not len(starts):
        return None
    if (ends <= starts).any() or (data[ends] != BLANK).any() or (data[ends + 1] != DOT).any():
        raise _Unusual
    blanks = np.append(np.flatnonzero(data == BLANK), [len(data), len(data)])
    places = np.searchsorted(blanks, starts)
    first, second = blanks[places], blanks[places + 1]
    if (second >= ends).any():
        raise _Unusual
    cuts = [starts, first, first + 1, second, second + 1]
    if quads:
        last = blanks[np.searchsorted(blanks, ends) - 1]
        last = np.where(_names_graph(data, second, last, ends), last, ends)
        cuts += [last, np.minimum(last + 1, ends)]
    offsets = np.append(np.stack([*cuts, ends], axis=1), len(data)).astype(np.int32)
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(block))


def _names_graph(data: Bytes, second: Places, last: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Tell in which lines a graph stands behind the last blank: in others that is in a text."""
    begins = np.isin(data[np.minimum(last + 1, len(data) - 1)], [LESS, UNDERSCORE])
    quotes = np.flatnonzero(data == QUOTE)
    without_quotes = np.searchsorted(quotes, last) == np.searchsorted(quotes, ends)
    return np.asarray((last > second) & begins & without_quotes)


def _terms(texts: Any) -> list[Variant | None]:
    """Return the term that each text is, None for the empty one."""
    terms = np.empty(len(texts), object)
    left = np.ones(len(texts), np.bool_)
    for pattern, part, make in USUAL:
        fits = pc.match_substring_regex(texts, pattern)
        found = fits.to_numpy(zero_copy_only=False)
        made = (make(text[part]) for text in texts.filter(fits).to_pylist())
        terms[found] = np.fromiter(made, object, np.count_nonzero(found))
        left &= ~found
    for place, text in zip(np.flatnonzero(left).tolist(), texts.filter(pa.array(left)).to_pylist(), strict=True):
        match = TERM_TEXT.fullmatch(text)
        if match is None and text:
            raise _Unusual
        try:
            terms[place] = None if match is None else term_of(match)
        except ValueError:
            raise _Unusual from None
    return terms.tolist()


def _checked(terms: list[Variant | None], columns: Places) -> tuple[list[Variant], Places]:
    """Return terms and rows if each stands where the grammar lets it."""
    kinds = np.array(["-" if term is None else "ibl"[term.position] for term in terms], "U1")
    allowed = [np.isin(kinds, [*letters]) for letters in ("ib", "i", "ibl", "ib-")]
    if not all(fits[places].all() for fits, places in zip(allowed, columns, strict=False)):
        raise _Unusual
    graphs = np.full(columns.shape[1], -1, np.int64)
    if len(columns) > 3:
        graphs = np.where(kinds[columns[3]] == "-", -1, columns[3])
    # The empty text of the default graph is no term; nothing stands at its place.
    return [blank("") if term is None else term for term in terms], np.stack([*columns[:3], graphs])
