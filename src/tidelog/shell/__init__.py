"""Faces: the command line. Imports `session` and `base`.

* `main` finds the subcommand, a module of its name: `run`, `check`, `format`, `plan`, `shell`,
  `pipeline`, `soak`, `doctor`.
* `options`, `limits`: options that several share. `tables`, `terminal`: what reaches the screen, escaped.
* The shell: `commands` and `records` read DDlog's command language, `conversion` types its values, `interpreter` and
  `own_commands` execute it, `dumping` prints as DDlog does, `scripts` and `terminal_shell` are its two faces.
"""
