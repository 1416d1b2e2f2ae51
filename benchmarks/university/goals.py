"""Fourteen questions about universities, as goals over `Triple`: like LUBM's, from look-ups to joins in a cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.university.generate import DATA

QUESTIONS = {
    1: "x a Graduate, x takes @u0/d0/t0/s",
    2: "x a Graduate, y a University, z a Department, x memberOf z, z partOf y, x bachelorFrom y",
    3: "x a Publication, x author @u0/d0/t1",
    4: "x a Professor, x worksFor @u0/d0, x email e",
    5: "x a Person, x memberOf @u0/d0",
    6: "x a Student",
    7: "x a Student, y a Course, x takes y, @u0/d0/t2 teaches y",
    8: "x a Student, y a Department, x memberOf y, y partOf @u0, x email e",
    9: "x a Student, y a Faculty, z a Course, x advisor y, y teaches z, x takes z",
    10: "x a Student, x takes @u0/d0/t0/s",
    11: "x a Group, x partOf @u0",
    12: "x a Chair, y a Department, x worksFor y, y partOf @u0",
    13: "x a Person, @u0 hasAlumnus x",
    14: "x a Undergraduate",
}


def goals(prefix: str) -> dict[int, str]:
    """Return the questions as goals; the program calls the schema by this prefix."""
    return goals_of(QUESTIONS, prefix, lambda name: DATA + name[1:])


def goals_of(questions: Mapping[int, str], prefix: str, iri: Callable[[str], str]) -> dict[int, str]:
    """Return questions as goals; `iri` gives the IRI of a word that begins with `@`."""
    return {
        number: ", ".join(_atom(part, prefix, iri) for part in text.split(", ")) for number, text in questions.items()
    }


def _atom(part: str, prefix: str, iri: Callable[[str], str]) -> str:
    subject, name, value = (f"<{iri(word)}>" if word.startswith("@") else word for word in part.split(" "))
    if name == "a":
        return f"Triple({subject}, rdf:type, {prefix}:{value})"
    return f"Triple({subject}, {prefix}:{name}, {value})"
