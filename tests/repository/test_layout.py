"""The rules on files and imports which neither ruff nor import-linter can express; see docs/dev/rules.md."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tidelog"
KERNELS = [path for path in (SOURCE / "run").rglob("*.py") if path.parent.name == "kernels"]
LONGEST = 500
FULL = 16
"""Modules of a folder: a dozen, and some to spare."""
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}


def tracked(*patterns: str) -> list[Path]:
    """The files under version control that match; without git, as in a source archive, all files that do."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        return [path for pattern in patterns for path in ROOT.rglob(pattern) if ".venv" not in path.parts]
    return [ROOT / name for name in listed if name and (ROOT / name).exists()]


def imports(text: str) -> Iterator[str]:
    """The names of the modules that a module's text imports."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(str(module), _, _):
                yield module


def allowed_in_kernels(module: str) -> bool:
    top = module.partition(".")[0]
    inside = re.match(r"tidelog\.run\.(closure|columnar|columnar\.machine)\.kernels(\.|$)", module) is not None
    compiling = module in {"tidelog.run.kernel_cache", "tidelog.run.kernel_types"}  # decorators and annotations
    return inside or compiling or top in {"numpy", "numba"} or top in sys.stdlib_module_names


@pytest.mark.parametrize("path", sorted(KERNELS), ids=lambda path: path.name)
def test_kernels_import_only_numpy_and_numba(path: Path) -> None:
    assert [module for module in imports(path.read_text()) if not allowed_in_kernels(module)] == []


def test_imports_are_seen() -> None:
    text = (
        "import numba\nfrom tidelog.run.columnar.kernels.sort import a\ndef f():\n    from tidelog.base import types\n"
    )
    assert [(module, allowed_in_kernels(module)) for module in imports(text)] == [
        ("numba", True),
        ("tidelog.run.columnar.kernels.sort", True),
        ("tidelog.base", False),
    ]


def test_no_module_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in tracked("*.py")}
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_folder_has_too_many_modules() -> None:
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in tracked("src/*.py") if path.stem != "__init__")
    assert counts
    assert {folder: count for folder, count in counts.items() if count > FULL} == {}


def test_no_module_has_a_vague_name() -> None:
    assert [path for path in tracked("*.py") if path.stem in VAGUE] == []


FOLDERS = sorted(path.parent for path in SOURCE.rglob("__init__.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(SOURCE.parent)))
def test_the_docstring_of_a_folder_names_its_modules(folder: Path) -> None:
    """A map of the folder; `parse_*` stands for all modules whose names begin so."""
    names = re.findall(r"`+(\w+\*?)/?`", ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or "")
    known = {module for module in tracked(f"{folder}/*") if module.parent == folder and module.suffix == ".py"}
    modules = {path.stem for path in known} | {path.name for path in FOLDERS if path.parent == folder}
    unnamed = modules.difference(names, {"__init__"})
    families = tuple(name[:-1] for name in names if name.endswith("_*"))
    assert {module for module in unnamed if not module.startswith(families)} == set()


def test_locks_name_no_index() -> None:
    for path in (ROOT / "requirements.lock", ROOT / "requirements-build.lock"):
        text = path.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text
        assert "index-url" not in text
