"""Facts from a folder, results to a folder.

Input relation `R` is read from the one file `R` with an ending of `FORMATS`, also with `.gz` after it; relation `a::R`
of an imported module from `a.R`. Without a file it is empty. Output relation `R` goes to `R.csv`: a header, and the
rows in the language's order, so that equal results are equal files; a relation of RDF terms to `R.nt` or `R.nq`.

What cannot be read, such as a folder or a pipe called `R.csv`, is a mistake, not an empty relation. Nothing is loaded
unless everything can be: mistakes of all files are reported together, up to `SHOWN` a file.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import get_args

from tidelog.base.arguments import brief
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Rows
from tidelog.session.formats.delimited import COMMA, FACTS, TAB, Dialect, read_delimited, suspected_header, write_csv
from tidelog.session.formats.jsonlines import read_jsonlines
from tidelog.session.formats.rdf.reading import read_graph
from tidelog.session.formats.rdf.syntaxes import MEDIA
from tidelog.session.formats.rdf.writing import rdf_ending, write_rdf
from tidelog.session.formats.remarks import Header, Remarks

HEADERS: tuple[Header, ...] = get_args(Header)


@record
class Reading:
    """How files are read."""

    plain: Plain
    tuning: Files
    header: Header
    remarks: Remarks


Read = Callable[[Path, Relation, Reading], Rows]


def _read_parquet(path: Path, relation: Relation, how: Reading) -> Rows:
    from tidelog.session.formats.parquet import read_parquet  # noqa: PLC0415  (loads pyarrow)

    return read_parquet(path, relation, how.plain)


def _read_rdf(path: Path, relation: Relation, how: Reading) -> Rows:
    return read_graph(path, how.tuning).fitted(relation, path)


def _read_text(dialect: Dialect) -> Read:
    def read(path: Path, relation: Relation, how: Reading) -> Rows:
        chosen = replace(dialect, first=how.header)
        rows = read_delimited(path, relation, how.plain, chosen, how.tuning)
        header = suspected_header(path, relation, chosen)
        if header is not None:
            how.remarks.notes.append(
                f"{path}: the first line ({brief(', '.join(header))}) is read as a fact, but looks like a header: "
                '`--header yes` (in Python header="yes") leaves it out, `no` keeps it without this note'
            )
        return rows

    return read


FORMATS: dict[str, Read] = {
    ".csv": _read_text(COMMA),
    ".tsv": _read_text(TAB),
    ".facts": _read_text(FACTS),
    ".jsonl": lambda path, relation, how: read_jsonlines(path, relation, how.plain),
    ".parquet": _read_parquet,
    **dict.fromkeys(sorted(MEDIA), _read_rdf),
}


@record
class Facts:
    """What a folder had: rows by input relation, and remarks that are no mistakes."""

    rows: Mapping[str, Rows]
    remarks: Remarks = field(default_factory=Remarks)

    @property
    def notes(self) -> list[str]:
        """Things to know."""
        return self.remarks.notes

    @property
    def warnings(self) -> list[str]:
        """What may well be a mistake."""
        return self.remarks.warnings


def file_stem(relation: str) -> str:
    """Return the name of a relation's file, without an ending.

    >>> file_stem("lib::graph::Edge")
    'lib.graph.Edge'
    """
    return relation.replace("::", ".")


def read_facts(
    folder: Path, relations: Mapping[str, Relation], plain: Plain, tuning: Tuning = DEFAULT, header: Header = "auto"
) -> Facts:
    """Read the files of all input relations; raise `DataError` with the mistakes of all of them.

    `header` says whether the first line of text files is one.
    """
    if header not in HEADERS:
        raise UserError(f"header: expected {', '.join(HEADERS[:-1])} or {HEADERS[-1]}, found {brief(header)}")
    files = _files(folder)
    inputs = {name: relation for name, relation in relations.items() if relation.role == "input"}
    remarks = Remarks([_stray(path, stem, relations) for path, stem in _strays(files, inputs)])
    how = Reading(plain, tuning.files, header, remarks)
    rows: dict[str, Rows] = {}
    mistakes: list[str] = []
    for name, relation in inputs.items():
        found = [path for path, (stem, _) in files.items() if stem == file_stem(name)]
        if not found and (unread := _unread(file_stem(name), files)) is not None:
            mistakes.append(f"{unread} cannot be read: files end in {', '.join(FORMATS)}, also with .gz")
        elif not found:
            remarks.notes.append(f"{folder} has no file for {name}: it is empty")
        elif len(found) > 1:
            mistakes.append(f"{name} has several files, it can have one: {', '.join(path.name for path in found)}")
        else:
            try:
                _check_file(found[0])
                rows[name] = files[found[0]][1](found[0], relation, how)
            except DataError as error:
                mistakes.append(str(error))
            except OSError as error:
                mistakes.append(f"cannot read {found[0]}: {error.strerror or error}")
    if mistakes:
        raise DataError("\n".join(mistakes))
    return Facts(rows, remarks)


def _files(folder: Path) -> dict[Path, tuple[str, Read]]:
    """Return the files of a folder with the relation's file name they have and how to read them."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    found: dict[Path, tuple[str, Read]] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror or error}") from None
    for path in paths:
        name = path.name.removesuffix(".gz")
        ending = next((ending for ending in FORMATS if name.endswith(ending)), None)
        if ending is not None:
            found[path] = (name.removesuffix(ending), FORMATS[ending])
        elif path.is_file():
            found[path] = (path.name, _read_parquet)
    return found


def _unread(stem: str, files: Mapping[Path, tuple[str, Read]]) -> Path | None:
    """Return a file that is called like a relation and ends in nothing that is read."""
    return next((path for path, (name, _) in files.items() if name == path.name and name.startswith(f"{stem}.")), None)


def _check_file(path: Path) -> None:
    """Refuse what has the name of a file of facts and is none: to read it would fail, or never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise DataError(f"cannot read {path}: it is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}")


def _strays(files: Mapping[Path, tuple[str, Read]], inputs: Iterable[str]) -> Iterable[tuple[Path, str]]:
    wanted = set(map(file_stem, inputs))
    return ((path, stem) for path, (stem, _) in files.items() if stem not in wanted)


def _stray(path: Path, stem: str, relations: Mapping[str, Relation]) -> str:
    known = {file_stem(name): name for name, relation in relations.items() if not relation.auxiliary}
    if stem in known:
        return f"{path} is not read: {known[stem]} is an {relations[known[stem]].role} relation"
    name = path.name.removesuffix(".gz")
    if stem == path.name and any(name.startswith(f"{other}.") for other in known):
        return f"{path} is not read: files end in {', '.join(FORMATS)}, also with .gz"
    inputs = [file for file, name in known.items() if relations[name].role == "input"]
    hint = did_you_mean(stem, inputs)
    return f"{path} is not read: there is no input relation `{stem}`" + (f"; {hint}" if hint else "")


def write_outputs(
    folder: Path, rows: Mapping[str, Rows], relations: Mapping[str, Relation], plain: Plain, tuning: Tuning = DEFAULT
) -> list[Path]:
    """Write each relation's rows to its file, and return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, found in rows.items():
            triples = rdf_ending(relations[name])
            paths.append(folder / f"{file_stem(name)}{triples or '.csv'}")
            if triples:
                write_rdf(paths[-1], found, relations[name], plain)
            else:
                write_csv(paths[-1], found, relations[name], plain, tuning.files)
    except OSError as error:
        raise UserError(f"cannot write {error.filename or folder}: {error.strerror or error}") from None
    return paths
