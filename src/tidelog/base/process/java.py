"""The Java of the machine: where it is, and which."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

NEEDED = 17
"""The version of Java that Spark needs."""


def machine_java() -> str | None:
    """Return the Java of JAVA_HOME, or else the first that the shell would find."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


def java_version(java: str) -> int | None:
    """Return the major version of a Java, or None if it does not tell."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', told.stderr)
    return int(number[1]) if number else None
