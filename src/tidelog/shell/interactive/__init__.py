"""The shell.

* `commands` and `records` read DDlog's command language; `conversion` types its values.
* `interpreter` and `own_commands` execute it; `dumping` prints as DDlog does.
* `recording` executes commands and notes them. `scripts` and `terminal_shell`: its two faces.
"""
