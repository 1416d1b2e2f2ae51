"""Both readers of N-Triples and N-Quads agree with each other and with pyoxigraph, on right files and on wrong ones."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from random import Random

import pytest

from tidelog.base.errors import DataError
from tidelog.base.text.terms import show_term
from tidelog.base.tuning.files import Files
from tidelog.session.formats.rdf.graph import Graph
from tidelog.session.formats.rdf.ntriples import read_lines, read_text
from tidelog.session.formats.rdf.ntriples_arrow import read_columns
from tidelog.session.formats.rdf.reading import read_content, read_graph
from tidelog.session.formats.rdf.syntaxes import read_bytes

FILES = int(os.environ.get("TIDELOG_RDF_FILES", "300"))
PLACE = Path("a.nt")

IRIS = ["<http://a>", "<http://a/b#c>", "<urn:x:y>", r"<http://a/\u00e9>", "<http://a/é>", r"<http://a/\U0001F600>"]
LABELS = ["_:b", "_:b1", "_:0", "_:é", "_:a.b", "_:a-b", "_:x_·"]
TEXTS = [
    '"a"',
    '""',
    '"a b"',
    r'"\"\\\t\n\r\b\f\'"',
    '"é . <x> _:y"',
    r'"\u0041\U0001F600"',
    '" "',
    '"a # b"',
    '"<http://a> ."',
]
ENDS = ["", "@en", "@EN-us", "@de-DE-1996", "^^<http://www.w3.org/2001/XMLSchema#string>", "^^<http://d>"]
WRONG = [
    "<a>", "<http://a b>", "<http://a", "_:", "_:.a", "_:a.", '"a', r'"\x"', r'"\u12"', r'"\uD800"', '"a"@', '"a"@1',
    '"a"^^', '"a"^^_:b', "a", "<http://a{>", '"a"@en--', "http://a", "<http://a\\>", r"<http://a/\u0020>",
]  # fmt: skip


def term(random: Random, kinds: str) -> str:
    kind = random.choice(kinds)
    if kind == "i":
        return random.choice(IRIS)
    return random.choice(LABELS) if kind == "b" else random.choice(TEXTS) + random.choice(ENDS)


def line(random: Random, *, quads: bool, odd: float) -> str:
    parts = [term(random, "ib"), term(random, "i"), term(random, "ibl")]
    if quads and random.random() < 0.7:
        parts.append(term(random, "ib"))
    if random.random() < odd / 4:
        parts[random.randrange(len(parts))] = random.choice([*WRONG, *TEXTS, *LABELS])
    gaps = ["  ", "\t", " \t ", ""] if random.random() < odd else [" "]
    made = "".join(part + random.choice(gaps) for part in parts) + "."
    if random.random() < odd / 3:
        made = random.choice(
            ["", "# a comment", "   ", f"  {made}", f"{made} # why", f"{made} ", made[:-1], f"{made}."]
        )
    return made


def shown(graph: Graph) -> list[tuple[str, ...]]:
    rows = graph.rows.T.tolist()
    return sorted(tuple(show_term(graph.terms[place]) if place >= 0 else "" for place in row) for row in rows)


@pytest.mark.parametrize("quads", [False, True])
def test_random_files(tmp_path: Path, quads: bool) -> None:
    kept = refused = by_columns = 0
    ending = ".nq" if quads else ".nt"
    path = tmp_path / f"T{ending}"
    for seed in range(FILES):
        random = Random(seed)
        odd = random.choice([0.0, 0.0, 0.1, 0.4])
        lines = [line(random, quads=quads, odd=odd) for _ in range(random.randrange(6))]
        text = random.choice(["\n", "\n", "\r\n"]).join(lines) + random.choice(["", "\n"])
        path.write_bytes(text.encode())
        try:
            oracle = shown(read_bytes(text.encode(), path, ending))
        except DataError:
            oracle = None
        try:
            slow = shown(read_lines(path, quads=quads))
        except DataError:
            slow = None
        assert slow == oracle, text
        fast = read_columns(path, quads=quads, tuning=Files(block_bytes=random.choice([1, 100, 1 << 20])))
        assert fast is not None or odd, text
        if fast is not None:
            assert shown(fast) == slow, text
            by_columns += 1
        kept, refused = kept + (slow is not None), refused + (slow is None)
    assert min(kept, refused, by_columns) > FILES // 20


def test_mistakes_have_lines() -> None:
    text = '<http://a> <http://b> "c" .\n\n# fine\n<http://a> <http://b> .\n'
    text += '<http://a> "b" "c" .\r\n"a" <b> <c> .\n_:a <http://b> _:c\n'
    with pytest.raises(DataError) as caught:
        read_text(text, PLACE, quads=False)
    assert str(caught.value).splitlines() == [
        "a.nt:4: expected an object, found '.'",
        'a.nt:5: expected a predicate (an IRI), found \'"b" "c" .\'',
        "a.nt:6: expected a subject, found '\"a\" <b> <c> .'",
        "a.nt:7: expected `.`, found 'the end of the line'",
    ]


@pytest.mark.parametrize("escape", ["\\u0020", "\\u003c", "\\U0000005E"])
def test_escapes_do_not_smuggle_into_an_iri(tmp_path: Path, escape: str) -> None:
    path = tmp_path / "T.nt"
    for statement in (
        f"<http://a/{escape}> <http://b> <http://c> .",
        f'<http://a> <http://b> "c"^^<http://d{escape}> .',
    ):
        path.write_text(statement)
        assert read_columns(path, quads=False) is None
        with pytest.raises(DataError, match="cannot be in an IRI"):
            read_lines(path, quads=False)


def test_graphs_after_texts_that_look_like_them(tmp_path: Path) -> None:
    """By columns, too: only such a text whose quotes are not where they are expected needs the slow reader."""
    path = tmp_path / "T.nq"
    objects = ['"a <b>"', '"a _:b"', '"a <b"^^<http://d>', '"a _:b"@en', '"a"', "_:b", "<http://b>"]
    lines = [f"<http://a> <http://b> {one}{graph} ." for one in objects for graph in ("", " <http://g>", " _:g")]
    path.write_text("\n".join(lines))
    found = read_columns(path, quads=True)
    assert found is not None
    assert shown(found) == shown(read_lines(path, quads=True))


@pytest.mark.parametrize("text", ['<http://a> <http://b> "c" .', '\ufeff<http://a>\t<http://b> "c" .'])
def test_bytes_are_read_as_files_are(tmp_path: Path, text: str) -> None:
    """By columns if they are many, with a byte order mark or without."""
    path = tmp_path / "T.nt"
    path.write_text(text, encoding="utf-8")
    for tuning in (Files(read_bytes=0), Files()):
        found = read_content(path.read_bytes(), path, ".nt", tuning)
        assert shown(found) == shown(read_graph(path, tuning)) == [("<http://a>", "<http://b>", '"c"', "")]


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "T.nt.gz"
    path.write_bytes(gzip.compress(b'<http://a> <http://b> "c" .\n'))
    for graph in (read_lines(path, quads=False), read_columns(path, quads=False)):
        assert graph is not None
        assert shown(graph) == [("<http://a>", "<http://b>", '"c"', "")]
    path.write_bytes(path.read_bytes()[:-9])
    assert read_columns(path, quads=False) is None
    with pytest.raises(DataError, match=r"T\.nt\.gz"):
        read_lines(path, quads=False)
