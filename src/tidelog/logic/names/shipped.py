"""Which library module has a function that a program calls without importing it; only asked after a mistake."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection

SHIPPED = pathlib.Path(__file__).parents[1] / "std"


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
