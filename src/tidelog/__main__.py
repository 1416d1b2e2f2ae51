"""`python -m tidelog` is the command `tidelog`."""

from __future__ import annotations

from tidelog.shell.main import main

if __name__ == "__main__":
    main(prog_name="tidelog")
