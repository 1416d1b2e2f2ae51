"""Names: modules, imports, aliases, and the types declarations mean."""

from tests.logic.small_programs import check, declared, messages
from tidelog.base.diagnostic import Report
from tidelog.base.span import NOWHERE
from tidelog.base.types import show


def relation(text: str, name: str, **modules: str) -> tuple[str, ...]:
    report = Report()
    environment = declared(text, report, **modules).environments[()]
    found = environment.relation(tuple(name.split("::")), NOWHERE, report)
    assert messages(report) == []
    assert found is not None
    return (found.name, *(f"{c.name}: {show(c.type)}" for c in found.columns), show(found.element))


def test_columns_are_typed_and_aliases_expanded() -> None:
    text = "typedef Ids<'A> = Map<string, 'A>\ninput relation R(a: Ids<u8>, b: (bit<4>, isize))"
    assert relation(text, "R") == ("R", "a: Map<string, bit<8>>", "b: (bit<4>, signed<64>)", "R")


def test_columns_of_a_relation_of_structs_are_their_fields() -> None:
    text = "typedef T<'A> = T{a: 'A, b: bool}\ninput relation R[T<string>]"
    assert relation(text, "R") == ("R", "a: string", "b: bool", "T<string>")


def test_relation_of_other_values_has_one_column() -> None:
    assert relation("input relation R[(string, bool)]", "R") == ("R", "value: (string, bool)", "(string, bool)")


def test_relation_of_references_has_the_columns_behind_them() -> None:
    assert relation("input relation &R(a: string)", "R") == ("R", "a: string", "Ref<R>")


def test_names_of_modules_are_qualified() -> None:
    modules = {"a__b": "input relation R(x: T)\ntypedef T = T{y: string}"}
    assert relation("import a::b", "R", **modules) == ("a::b::R", "x: a::b::T", "a::b::R")
    assert relation("import a::b", "a::b::R", **modules)[0] == "a::b::R"
    assert relation("import a::b as c", "c::R", **modules)[0] == "a::b::R"


def test_alias_keeps_names_apart() -> None:
    text = "import m as n\nfunction f(): bool = g()"
    assert check(text, m="function g(): bool = true") == ["E0201 unknown function `g`"]
    assert check("import m as n\nfunction f(): bool = n::g()", m="function g(): bool = true") == []


def test_own_names_come_before_imported_ones_and_those_before_the_prelude() -> None:
    text = "import m\ntypedef T = bit<8>\nfunction f(x: T, o: Option): bit<8> = x"
    assert check(text, m="typedef T = string\ntypedef Option = bool") == []


def test_imports_are_not_handed_on() -> None:
    found = check("import a\nfunction f(x: T) {}", a="import b", b="typedef T = bool")
    assert found == ["E0201 unknown type `T`"]


def test_recursive_types_are_allowed() -> None:
    assert check("typedef Tree = Leaf | Node{left: Tree, right: Tree}\nfunction f(t: Tree): Tree = Node{t, Leaf}") == []


def test_functions_of_imported_modules_overload_own_ones() -> None:
    text = 'import m\nfunction f(x: bool): bool = x\nfunction g(): (bool, string) = (f(true), f("a"))'
    assert check(text, m="function f(x: string): string = x") == []
