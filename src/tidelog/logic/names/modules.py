"""Finding the modules of a program: which file an import means, and what can be wrong with imports.

`import a::b` reads `a/b.dl`, looked for in the directory of the main file, then in the library directories, then among
the modules shipped with Tidelog (`logic/std`). Every module imports the prelude without saying so. A module is
known by its path; the main module's is empty. Shipped modules never change, so they are parsed once a process.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from tidelog.base.diagnostic import Label, Report, did_you_mean
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import Import, Module, Path
from tidelog.logic.names.names import INTERNMENT, STD
from tidelog.logic.names.prefixes import expand_prefixes

Place = tuple[str, int]
"""Where a rule stands: the name of its source and the offset in it."""

MAIN: Path = ()
TIDELOG = "tidelog"
"""The dialect that is not `ddlog`."""
PRELUDE = (STD, INTERNMENT)
"""What every program imports."""
SHIPPED = pathlib.Path(__file__).parents[1] / "std"


@record
class Modules:
    """The modules of a program by path; `library` are those shipped with Tidelog."""

    by_path: Mapping[Path, Module]
    library: frozenset[Path]
    dialect: str = TIDELOG


def load_modules(
    source: Source, report: Report, library: Sequence[pathlib.Path] = (), dialect: str = TIDELOG
) -> Modules:
    """Parse the main text and everything it imports; the main module comes first."""
    main = expand_prefixes(parse(source, report), report)
    loader = _Loader(report, _directories(source, library))
    loader.loaded[MAIN] = main
    loader.follow(main)
    for path in PRELUDE:
        if path not in loader.loaded:
            loader.load(path, None)
    return Modules(loader.loaded, frozenset(loader.shipped), dialect)


def _directories(source: Source, library: Sequence[pathlib.Path]) -> tuple[pathlib.Path, ...]:
    main = pathlib.Path(source.name)
    own = (main.parent,) if _is_file(main) else ()
    return (*own, *library, SHIPPED)


def _is_file(path: pathlib.Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the name of a text that is no file need not be a possible file name
        return False


@dataclass(slots=True)
class _Loader:
    report: Report
    directories: tuple[pathlib.Path, ...]
    loaded: dict[Path, Module] = field(default_factory=dict)
    shipped: set[Path] = field(default_factory=set)

    def follow(self, module: Module) -> None:
        """Load what a module imports, and check its aliases."""
        imports = [d for d in module.declarations if isinstance(d, Import)]
        self._check_aliases(imports)
        for declaration in imports:
            if declaration.path not in self.loaded:  # modules may import each other
                self.load(declaration.path, declaration)

    def load(self, path: Path, declaration: Import | None) -> None:
        """Find, parse and follow one module; `declaration` is the import that asks for it, None for the prelude."""
        directories = (SHIPPED,) if path in PRELUDE else self.directories
        file = next((f for d in directories if _is_file(f := d.joinpath(*path).with_suffix(".dl"))), None)
        if file is None:
            assert declaration is not None, "the prelude is shipped with Tidelog"
            self._missing(declaration)
            return
        if file.is_relative_to(SHIPPED):
            module = _shipped(file)
            self.shipped.add(path)
        else:
            try:
                text = file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                self._unreadable(declaration, file, error)
                return
            module = expand_prefixes(parse(Source(str(file), text), self.report), self.report)
        self.loaded[path] = module
        self.follow(module)

    def _missing(self, declaration: Import) -> None:
        file = "/".join(declaration.path) + ".dl"
        name = "::".join(declaration.path)
        self.report.add(
            "E0250",
            f"there is no module `{name}`",
            declaration.span,
            note=f"`import {name}` reads the file `{file}` beside the program, in a library directory, "
            "or of the standard library",
            hint=did_you_mean(name, self._known()),
        )

    def _known(self) -> list[str]:
        files = ((directory, f) for directory in self.directories for f in directory.rglob("*.dl"))
        return sorted({"::".join(f.relative_to(d).with_suffix("").parts) for d, f in files})

    def _unreadable(self, declaration: Import | None, file: pathlib.Path, error: Exception) -> None:
        assert declaration is not None, "the prelude is readable"
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        self.report.add(
            "E0251",
            f"the file `{file.name}` of module `{'::'.join(declaration.path)}` cannot be read: {reason}",
            declaration.span,
            note="a module is a text file in UTF-8",
            hint="save the file as UTF-8" if isinstance(error, UnicodeDecodeError) else "",
        )

    def _check_aliases(self, imports: Sequence[Import]) -> None:
        aliases: dict[str, Import] = {}
        for declaration in imports:
            alias = declaration.alias
            if alias is None:
                continue
            earlier = aliases.setdefault(alias, declaration)
            if earlier.path != declaration.path:
                self.report.add(
                    "E0253",
                    f"the alias `{alias}` already means module `{'::'.join(earlier.path)}`",
                    declaration.span,
                    labels=[Label(earlier.span, "first used here")],
                    note="an alias stands for one module",
                    hint="choose another alias",
                )


@cache
def _shipped(file: pathlib.Path) -> Module:
    report = Report()
    source = Source(f"std/{file.relative_to(SHIPPED).as_posix()}", file.read_text(encoding="utf-8"))
    module = expand_prefixes(parse(source, report), report)
    assert not report.errors, f"{file.name}: {report.errors[0].message}"
    return module


def import_hint(function: str, imported: Collection[str]) -> str:
    """Return a hint that names a library module with the function, or nothing.

    >>> import_hint("flatmap", ())
    'the library module `vec` has one: `import vec`'
    """
    declaration = re.compile(rf"^(?:extern )?function {re.escape(function)}\(", re.MULTILINE)
    for file in sorted(SHIPPED.glob("*.dl"), key=lambda f: _ORDER.get(f.stem, len(_ORDER))):
        if file.stem not in imported and file.stem != "std" and declaration.search(file.read_text(encoding="utf-8")):
            return f"the library module `{file.stem}` has one: `import {file.stem}`"
    return ""


_ORDER = {name: i for i, name in enumerate(("vec", "set", "map", "group"))}
