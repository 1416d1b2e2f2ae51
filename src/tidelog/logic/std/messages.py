"""Modules `print` and `log`: text for people, from within a program.

Messages of `log` go to the loggers of Python below `tidelog.log`, one for each module number of the program, as records
of level INFO; `record.severity` is the level that the program gave. Nobody sees them unless a handler is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

LOGGER = "tidelog.log"


def show(text: str) -> tuple[()]:
    """Write a line on standard error."""
    sys.stderr.write(f"{text}\n")
    return ()


def log(module: int, level: int, message: str) -> tuple[()]:
    """Log a message of a module of the program; its level says how severe it is, the lower the more."""
    import logging  # noqa: PLC0415  (slow to load, and few programs log)

    logging.getLogger(f"{LOGGER}.{module}").info("%s", message, extra={"severity": level})
    return ()


PRINT_FUNCTIONS: dict[str, Callable[..., Any]] = {"print": show}
LOG_FUNCTIONS: dict[str, Callable[..., Any]] = {"log": log}
