"""Terms of RDF, values of the library's type `rdf::Term`, and their text in N-Triples.

The grammar is that of RDF 1.1 N-Triples. Language tags are written small, so that tags that mean the same are equal; a
literal without a datatype is of xsd:string. IRIs must be absolute.
"""

from __future__ import annotations

import re
from typing import Any, Final

from tidelog.base.values import Variant

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
STRING: Final = f"{XSD}string"
LANG_STRING: Final = f"{RDF}langString"
TERM: Final = "rdf::Term"

_UCHAR = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_CHAR = f"{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040\\-"
IRI_TEXT: Final = rf"<([A-Za-z][A-Za-z0-9+.\-]*:(?:[^\x00-\x20<>\"{{}}|^`\\]++|{_UCHAR})*+)>"
BLANK_TEXT: Final = rf"_:([{_BASE}_0-9](?:[{_CHAR}.]*[{_CHAR}])?)"
QUOTED_TEXT: Final = rf'"((?:[^"\\\r\n]++|\\[tbnrf"\'\\]|{_UCHAR})*+)"'
LANGUAGE_TEXT: Final = "@([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)"
TERM_TEXT: Final = re.compile(rf"{IRI_TEXT}|{BLANK_TEXT}|{QUOTED_TEXT}(?:{LANGUAGE_TEXT}|\^\^{IRI_TEXT})?", re.ASCII)
"""A term; the groups are an IRI, a label, a text, a language, a datatype."""
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LABEL = re.compile(rf"[{_BASE}_0-9](?:[{_CHAR}.]*[{_CHAR}])?")
_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def iri(text: str) -> Variant:
    """Return an IRI."""
    return Variant("rdf::Iri", 0, (text,))


def blank(label: str) -> Variant:
    """Return a blank node."""
    return Variant("rdf::Blank", 1, (label,))


def literal(text: str, datatype: str = STRING, language: str = "") -> Variant:
    """Return a literal."""
    return Variant("rdf::Literal", 2, (text, datatype, language))


def term_of(found: re.Match[str]) -> Variant:
    """Return the term that `TERM_TEXT` has found; raise `ValueError` for an escape that means no character."""
    name, label, text, language, datatype = found.groups()
    if name is not None:
        return iri(_unescaped_iri(name))
    if label is not None:
        return blank(label)
    if language is not None:
        return literal(_unescape(text), LANG_STRING, language.lower())
    return literal(_unescape(text), STRING if datatype is None else _unescaped_iri(datatype))


def _unescaped_iri(text: str) -> str:
    made = _unescape(text)
    if "\\" in text and (wrong := _NOT_IN_IRI.search(made)):
        raise ValueError(f"{wrong[0]!r} cannot be in an IRI, not even as an escape")
    return made


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    short, long, name = found.groups()
    if name is not None:
        return _ESCAPED[name]
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError(f"{found[0]} is no character")
    return chr(code)


def parse_term(text: str) -> Variant:
    """Return the term that a text in N-Triples stands for; raise `ValueError` if it is none."""
    found = TERM_TEXT.fullmatch(text)
    if found is None:
        raise ValueError('expected <an absolute IRI>, _:label or "text", perhaps with @language or ^^<datatype>')
    return term_of(found)


def show_term(term: Variant) -> str:
    """Return a term as N-Triples write it; raise `ValueError` if they cannot.

    >>> show_term(literal("a", STRING)), show_term(literal("a", LANG_STRING, "en")), show_term(iri("http://a"))
    ('"a"', '"a"@en', '<http://a>')
    """
    if term.position == 0:
        return f"<{_shown_iri(term.fields[0])}>"
    if term.position == 1:
        if not _LABEL.fullmatch(term.fields[0]):
            raise ValueError(f"a blank node cannot have the label {term.fields[0]!r} in a file")
        return f"_:{term.fields[0]}"
    text, datatype, language = term.fields
    quoted = f'"{_SPECIAL.sub(_escaped, text)}"'
    if language:
        return f"{quoted}@{language}"
    return quoted if datatype == STRING else f"{quoted}^^<{_shown_iri(datatype)}>"


def _shown_iri(text: str) -> str:
    return _NOT_IN_IRI.sub(lambda found: f"\\u{ord(found[0]):04X}", text)


def _escaped(found: re.Match[str]) -> str:
    return _NAMED.get(found[0]) or f"\\u{ord(found[0]):04X}"


def written_term(value: Any) -> str | None:
    """Return the text of a term that reads back as the same value; None for a value that no file of RDF can hold.

    >>> written_term(literal("a")), written_term(blank("not one label"))
    ('"a"', None)
    """
    try:
        text = show_term(value)
        found = TERM_TEXT.fullmatch(text)
        return text if found is not None and term_of(found) == value else None
    except (ValueError, TypeError, AttributeError):
        return None
