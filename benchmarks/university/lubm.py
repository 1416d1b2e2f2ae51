"""LUBM itself (Guo, Pan and Heflin, 2005): its 14 queries as goals over `Triple`, with their variables in its order."""

from __future__ import annotations

from benchmarks.university.goals import goals_of

SCHEMA = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
QUERIES = {
    1: "x a GraduateStudent, x takesCourse @d/GraduateCourse0",
    2: "x a GraduateStudent, y a University, z a Department, x memberOf z, z subOrganizationOf y, "
    "x undergraduateDegreeFrom y",
    3: "x a Publication, x publicationAuthor @d/AssistantProfessor0",
    4: "x a Professor, x worksFor @d, x name n, x emailAddress e, x telephone t",
    5: "x a Person, x memberOf @d",
    6: "x a Student",
    7: "x a Student, y a Course, x takesCourse y, @d/AssociateProfessor0 teacherOf y",
    8: "x a Student, y a Department, x memberOf y, y subOrganizationOf @u, x emailAddress z",
    9: "x a Student, y a Faculty, z a Course, x advisor y, y teacherOf z, x takesCourse z",
    10: "x a Student, x takesCourse @d/GraduateCourse0",
    11: "x a ResearchGroup, x subOrganizationOf @u",
    12: "x a Chair, y a Department, x worksFor y, y subOrganizationOf @u",
    13: "x a Person, @u hasAlumnus x",
    14: "x a UndergraduateStudent",
}
PLACES = {"@u": "http://www.University0.edu", "@d": "http://www.Department0.University0.edu"}


def lubm_goals(prefix: str = "univ_bench") -> dict[int, str]:
    """Return the queries as goals; the program calls the ontology by this prefix."""
    return goals_of(QUERIES, prefix, lambda name: PLACES[name[:2]] + name[2:])
