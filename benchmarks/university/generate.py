"""Triples about universities as N-Triples: the same number and seed always give the same lines.

A university has 15 to 24 departments, a department 25 to 40 teachers and about 8 students for each. With `departments`
it is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

SCHEMA = "http://university.example/schema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DATA = "http://university.example/data/"


def statements(universities: int, *, departments: int | None = None, teachers: int | None = None) -> Iterator[str]:
    """Yield the lines of a file."""
    for number in range(universities):
        random = Random(number)
        yield _is(f"u{number}", "University")
        for d in range(random.randint(15, 24) if departments is None else departments):
            yield from _department(f"u{number}/d{d}", f"u{number}", universities, random, teachers)


def _department(name: str, university: str, universities: int, random: Random, teachers: int | None) -> Iterator[str]:
    yield _is(name, "Department")
    yield _has(name, "partOf", university)
    for group in range(random.randint(3, 6)):
        yield _is(f"{name}/g{group}", "Group")
        yield _has(f"{name}/g{group}", "partOf", name)
    staff = [f"{name}/t{t}" for t in range(random.randint(25, 40) if teachers is None else teachers)]
    courses: list[str] = []
    seminars: list[str] = []
    for place, teacher in enumerate(staff):
        yield _is(teacher, random.choice(("Full", "Assistant", "Assistant", "Lecturer")) if place else "Full")
        yield _has(teacher, "worksFor" if place else "leads", name)
        yield _has(teacher, "doctorFrom", f"u{random.randrange(universities)}")
        yield from _address(teacher)
        for taught in range(random.randint(1, 2)):
            courses.append(f"{teacher}/c{taught}")
            yield _is(courses[-1], "Course")
            yield _has(teacher, "teaches", courses[-1])
        seminars.append(f"{teacher}/s")
        yield _is(seminars[-1], "Seminar")
        yield _has(teacher, "teaches", seminars[-1])
        for written in range(random.randint(0, 8)):
            yield _is(f"{teacher}/p{written}", random.choice(("Article", "Article", "Book")))
            yield _has(f"{teacher}/p{written}", "author", teacher)
    for number in range(8 * len(staff)):
        student, graduate = f"{name}/x{number}", number % 5 == 0
        yield _is(student, "Graduate" if graduate else "Undergraduate")
        yield _has(student, "memberOf", name)
        yield from _address(student)
        for course in random.sample(seminars if graduate else courses, min(len(staff), random.randint(1, 4))):
            yield _has(student, "takes", course)
        if graduate:
            yield _has(student, "bachelorFrom", f"u{random.randrange(universities)}")
            yield _has(student, "advisor", random.choice(staff))
            yield _is(student, "Person")
            if random.random() < 0.3:
                yield _has(student, "tutors", random.choice(courses))


def _is(subject: str, kind: str) -> str:
    return f"<{DATA}{subject}> {TYPE} <{SCHEMA}{kind}> .\n"


def _has(subject: str, name: str, value: str) -> str:
    return f"<{DATA}{subject}> <{SCHEMA}{name}> <{DATA}{value}> .\n"


def _address(person: str) -> Iterator[str]:
    yield f'<{DATA}{person}> <{SCHEMA}email> "{person.replace("/", ".")}@university.example" .\n'
