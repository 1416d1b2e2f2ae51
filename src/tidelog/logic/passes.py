"""From a text to a typed program: the passes in order.

    load_modules, declare, check_relations        what there is
    REWRITES                                      rules without sugar, still untyped
    check_rules                                   rules with types
    flatten_patterns, unfold_rows, split_groups   flat bodies of literals
    order_body, fold_constants                    safe, and no more than needed
    warn                                          what is allowed but probably not meant

Every rule remembers the declaration it was made from. All mistakes are reported; a program with one is not returned.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Const, Var
from tidelog.base.extern import Externs
from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.record import record
from tidelog.base.span import Source, Span
from tidelog.lang import syntax
from tidelog.lang.parse.parse import parse_goal, parse_rules
from tidelog.lang.syntax import Module, Path, RuleDef
from tidelog.logic.check import rule_mistakes
from tidelog.logic.check.check_goal import ValueOf, check_goal
from tidelog.logic.check.check_rules import SourceRule, check_rules
from tidelog.logic.check.check_time import inspects, uninspected
from tidelog.logic.check.functions import Functions
from tidelog.logic.check.instantiate import instantiate
from tidelog.logic.check.order_body import order_body
from tidelog.logic.check.relations import check_indexes, check_relations
from tidelog.logic.check.warn import warn
from tidelog.logic.check.weigh_relations import weigh_relations
from tidelog.logic.infer.typed_rewrite import called_functions
from tidelog.logic.literals import atoms
from tidelog.logic.literals import expressions as expressions_of
from tidelog.logic.names.attributes import check_attributes, text_of
from tidelog.logic.names.declare import declare
from tidelog.logic.names.environment import Declarations
from tidelog.logic.names.modules import MAIN, TIDELOG, Modules, Place, load_modules
from tidelog.logic.names.prefixes import Prefixes, expanded, prefixes_of
from tidelog.logic.names.redeclare import NAMED, redeclared, users
from tidelog.logic.program import Origin, Program, Relation, Rule
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.apply_transformers import apply_transformers
from tidelog.logic.rewrite.auxiliaries import Auxiliaries
from tidelog.logic.rewrite.derivations.count_derivations import count_derivations, each_relation, read_each
from tidelog.logic.rewrite.derivations.group_derivations import group_derivations
from tidelog.logic.rewrite.expand_disjunction import count_ways, expand_disjunction
from tidelog.logic.rewrite.flatten_patterns import flatten_patterns
from tidelog.logic.rewrite.fold_constants import fold_constants
from tidelog.logic.rewrite.give_parameters import give_parameters
from tidelog.logic.rewrite.imperative_rules import imperative_rules
from tidelog.logic.rewrite.lift_expressions import lift_expressions
from tidelog.logic.rewrite.replace_aggregates import replace_aggregates
from tidelog.logic.rewrite.split_groups import split_groups
from tidelog.logic.rewrite.split_heads import split_heads
from tidelog.logic.rewrite.unfold_rows import unfold_rows
from tidelog.logic.std.dialect import DDLOG
from tidelog.logic.std.externs import EXTERNS

REWRITES: tuple[Callable[[RuleDef], tuple[RuleDef, ...]], ...] = (
    replace_aggregates,
    lift_expressions,
    expand_disjunction,
    split_heads,
)
DDLOG_REWRITES = (replace_aggregates, group_derivations, *REWRITES[1:])
"""Those of the dialect `ddlog`."""
NO_VALUES: Mapping[str, Const] = {}
MOST_WAYS = 10_000
"""How many rules the alternatives of one rule may make."""
MOST_LITERALS = 200
"""How long the body of a rule may be: plans are trees, which are walked by recursion."""


def analyse(
    source: Source,
    report: Report,
    *,
    library: Sequence[pathlib.Path] = (),
    externs: Externs | None = None,
    dialect: str = TIDELOG,
) -> Program | None:
    """Return the typed program of a text, or None if it has mistakes, all of which are in `report`."""
    analysis = analyse_openly(source, report, library=library, externs=externs, dialect=dialect)
    return None if analysis is None else analysis.program


def analyse_openly(
    source: Source,
    report: Report,
    *,
    library: Sequence[pathlib.Path] = (),
    externs: Externs | None = None,
    dialect: str = TIDELOG,
) -> Analysis | None:
    """Do as `analyse`, and return what is needed to check more rules."""
    with collector_paused():
        modules = load_modules(source, report, library, dialect)
        if report.errors:
            return None
        own = () if externs is None else (externs,)
        return _analyse(modules, (*own, DDLOG, EXTERNS) if dialect == "ddlog" else (*own, EXTERNS), report)


@record
class Analysis:
    """A program, and its declarations, against which more rules can be checked."""

    program: Program
    declarations: Declarations
    functions: Functions
    modules: Modules
    externs: tuple[Externs, ...]

    def with_declarations(
        self,
        program: Program,
        declarations: Sequence[syntax.Declaration],
        gone: Collection[str],
        report: Report,
    ) -> Analysis | None:
        """Return the analysis of a program with further declarations and rules, and without declarations of some names.

        `program` is the one that was analysed, or has more or fewer rules. Everything is looked at again.
        """
        more = expanded(tuple(declarations), self._prefixes, report)
        in_force = [rule.origin.span for rule in program.rules]
        with collector_paused():
            return _analyse(redeclared(self.modules, in_force, more, gone), self.externs, report)

    def users(self, program: Program, spans: Sequence[Span]) -> list[str]:
        """Return what the declarations and rules of a program are, in words, in which some places are."""
        return users(redeclared(self.modules, [rule.origin.span for rule in program.rules], (), ()), spans)

    def declares(self) -> dict[str, str]:
        """Return what the main module declares, by name: `relation`, `function`, `type` or `index`."""
        kinds = {"RelationDef": "relation", "FunctionDef": "function", "TypeDef": "type", "IndexDef": "index"}
        main = self.modules.by_path[MAIN].declarations
        return {one.name: kinds[type(one).__name__] for one in main if isinstance(one, NAMED)}

    def constructors(self, type: str) -> list[str]:
        """Return the names of the constructors of a type that the main module declares."""
        main = self.modules.by_path[MAIN].declarations
        (found,) = (one for one in main if isinstance(one, syntax.TypeDef) and one.name == type)
        return [one.name for one in found.body] if isinstance(found.body, tuple) else []

    def with_rules(
        self, program: Program, text: Source, report: Report, removed: Collection[Place] = ()
    ) -> Program | None:
        """Return a program with further rules, a text of the main module; only these are looked at.

        `program` is the one that was analysed, or has more or fewer rules.
        """
        rules = expanded(parse_rules(text, report), self._prefixes, report)
        module = Module(tuple(rule for rule in rules if (text.name, rule.span.start) not in removed))
        names = {rule.origin.name: rule.origin.span for rule in program.rules if rule.origin.name is not None}
        check_attributes(module, names, report)
        if report.errors:
            return None
        return _extend(program, {}, {MAIN: module}, self.declarations, self.functions, report)

    @property
    def _prefixes(self) -> Prefixes:
        return prefixes_of(self.declarations.tables[MAIN].module)

    def with_goal(self, program: Program, text: Source, value_of: ValueOf, report: Report) -> Program | None:
        """Return a program with a goal: a rule more, whose head, the relation `GOAL`, are the variables of a body.

        `value_of` gives the values of its parameters. What else is doubtful in a goal is nobody's concern.
        """
        parsed = parse_goal(text, report)
        if parsed is None:
            return None
        body = expanded(parsed[0], self._prefixes, report)
        rules = list(_source_rules({MAIN: Module((body,))}, self.declarations, report))
        if report.errors:
            return None
        goal = check_goal(rules, parsed[1], value_of, self.declarations, report) if rules else None
        if goal is None:
            return None
        relations = {**program.relations, goal.relation.name: goal.relation}
        return _complete(program, relations, goal.rules, self.declarations, self.functions, report, goal.values)


def _analyse(modules: Modules, externs: tuple[Externs, ...], report: Report) -> Analysis | None:
    names: dict[str, Span] = {}
    for path, module in modules.by_path.items():
        if path not in modules.library:
            check_attributes(module, names, report)
    declarations = declare(modules.by_path, report, modules.library, modules.dialect)
    relations = check_relations(declarations, report)
    if declarations.dialect != TIDELOG:
        relations = _with_weights(relations, modules, declarations)
    indexes = check_indexes(modules, declarations, report)
    functions = Functions(declarations, externs, report)
    functions.check()
    empty = Program({}, {}, {}, (), indexes)
    program = _extend(empty, relations, modules.by_path, declarations, functions, report)
    return None if program is None else Analysis(program, declarations, functions, modules, externs)


def _with_weights(
    relations: Mapping[str, Relation], modules: Modules, declarations: Declarations
) -> Mapping[str, Relation]:
    """Return the relations with internal ones as multisets, where weights show."""
    made = dict(relations)
    for relation in weigh_relations(list(_source_rules(modules.by_path, declarations, Report())), declarations):
        declarations.replace_relation(relation)
        made[relation.name] = relation
        each = each_relation(relation)
        made[each.name] = each
    return made


def _extend(
    program: Program,
    relations: Mapping[str, Relation],
    modules: Mapping[Path, Module],
    declarations: Declarations,
    functions: Functions,
    report: Report,
) -> Program | None:
    """Return the program with further relations, and with the rules of modules, checked and rewritten."""
    sound = not report.errors
    checked_rules = check_rules(_source_rules(modules, declarations, report), declarations, report)
    if not sound:  # rules may have types that are not known, which the passes below rely on
        return None
    return _complete(program, {**program.relations, **relations}, checked_rules, declarations, functions, report)


def _complete(
    program: Program,
    relations: Mapping[str, Relation],
    checked_rules: Iterable[checked.Rule[checked.Clause]],
    declarations: Declarations,
    functions: Functions,
    report: Report,
    values: Mapping[str, Const] = NO_VALUES,
) -> Program | None:
    """Return the program with these relations and with further rules, which may have parameters with values."""
    auxiliaries = Auxiliaries(dict(relations))
    rules = list(_typed_rules(checked_rules, declarations, auxiliaries, values, report))
    if report.errors:
        return None
    every = _with_the_past(auxiliaries.relations, (*program.rules, *rules), declarations)
    warn(rules, program.rules, every, report)
    new = [relation for name, relation in every.items() if name not in program.relations]
    functions.report = report
    made = instantiate(functions, _called(rules, new))
    if report.errors:  # of generic functions, at the types they are called with
        return None
    columns = [type for r in new for type in (r.element, *(column.type for column in r.columns))]
    signatures = [type for f in made.values() for type in (*(p.type for p in f.parameters), f.result)]
    types = dict(declarations.complete((*columns, *signatures, *(value.type for value in values.values()))))
    functions_made, whole = {**program.functions, **made}, (*program.rules, *rules)
    return Program(types, every, functions_made, whole, program.indexes, declarations.dialect != TIDELOG)


def _source_rules(modules: Mapping[Path, Module], declarations: Declarations, report: Report) -> Iterator[SourceRule]:
    """The rules of all modules, rewritten until only plain rules are left."""
    for path, module in modules.items():
        for declaration in module.declarations:
            match declaration:
                case RuleDef():
                    rules: tuple[RuleDef, ...] = (declaration,)
                case syntax.ImperativeRule():
                    rules = imperative_rules(declaration, report)
                case syntax.Apply():
                    rules = apply_transformers(declaration, declarations.environments[path], report)
                case _:
                    continue
            if any(count_ways(rule.body) > MOST_WAYS for rule in rules):
                rule_mistakes.many_alternatives(max(count_ways(r.body) for r in rules), declaration.span, report)
                continue
            if declarations.dialect != TIDELOG:
                rules = tuple(uninspected(rule, report) for rule in rules)
            if sum(inspects(rule.body, report) for rule in rules):
                continue
            origin = Origin(_text(declaration), text_of("name", declaration.attributes), span=declaration.span)
            for rewrite in REWRITES if declarations.dialect == TIDELOG else DDLOG_REWRITES:
                rules = tuple(made for rule in rules for made in rewrite(rule))
            yield from (SourceRule(path, rule, origin) for rule in rules)


def _with_the_past(
    relations: Mapping[str, Relation], rules: Iterable[Rule], declarations: Declarations
) -> Mapping[str, Relation]:
    """Return the relations with those that rules read as they were some commits ago."""
    if not declarations.delays:
        return relations
    made: dict[str, Relation] = {}
    for rule in rules:
        for atom in atoms(rule.body):
            found = declarations.delays.get(atom.relation)
            while found is not None:
                made[found.name] = found
                found = declarations.delays.get(found.past or "")
    return {**relations, **made}


def _text(rule: RuleDef | syntax.ImperativeRule | syntax.Apply) -> str:
    if rule.span.text:
        return rule.span.text
    assert not isinstance(rule, syntax.Apply), "it is made from a text"
    from tidelog.lang.format.format import format_rule  # noqa: PLC0415  (only rules made in Python have no text)

    return format_rule(replace(rule, attributes=()))


def _typed_rules(
    rules: Iterable[checked.Rule[checked.Clause]],
    declarations: Declarations,
    auxiliaries: Auxiliaries,
    values: Mapping[str, Const],
    report: Report,
) -> Iterator[Rule]:
    """The rules of the typed program, those of auxiliary relations before the rule they were made for."""
    places: dict[Span, int] = {}
    for rule in rules:
        flat = unfold_rows(flatten_patterns(rule, declarations.definition, auxiliaries))
        given = read_each(give_parameters(flat, values), auxiliaries.relations)
        split = split_groups(given, declarations.definition, auxiliaries)
        if rule.head.kind == "multiset":
            number = places[split.origin.span] = places.get(split.origin.span, -1) + 1
            split = count_derivations(split, number, declarations)
        made, auxiliaries.rules = [*auxiliaries.rules, split], []
        for one in made:
            ordered = order_body(one, report)
            if ordered is not None and len(ordered.body) > MOST_LITERALS:
                rule_mistakes.many_literals(len(ordered.body), MOST_LITERALS, ordered.origin.span, report)
                continue
            folded = ordered and fold_constants(ordered)
            if folded:
                yield folded


def _called(rules: Iterable[Rule], relations: Iterable[Relation]) -> Iterator[str]:
    """The names of the functions that rules and keys call."""
    expressions = [r.primary_key for r in relations if r.primary_key is not None]
    for rule in rules:
        expressions += rule.arguments
        for literal in rule.body:
            expressions += expressions_of(literal)
    return called_functions(*(e for e in expressions if not isinstance(e, Var | Const)))
