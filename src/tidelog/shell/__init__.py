"""Faces: the command line. Imports `session` and `base`.

* `main` finds the subcommand, a module of its name: `run`, `query`, `check`, `format`, `plan`, `shell`,
  `pipeline`, `rdf`, `soak`, `doctor`.
* `options`, `opening`: options that several share, and the database they ask for. `tables`, `terminal`: what reaches
  the screen, escaped. `metrics`: what a pipeline did, for Prometheus.
* `interactive`: the shell that reads DDlog's command language.
"""
