"""The standard library: modules in the language (`*.dl`), and the Python functions they declare as `extern`.

`std.dl` is the prelude, imported by every program; the others are imported by name. `externs` has the table of the
Python side, one file a topic: `scalars`, `containers`, `groups` for the prelude, `allocation` (numbers for things),
`clock` (times), `graphs` (transformers), `messages` (print, log), `reals` (floating point), `tables` (OVSDB), `terms`
and `datatypes` (RDF), `texts` (JSON, regular expressions, URLs and other notations). `dialect` has what takes the place
of some of it for programs that follow DDlog. All of it is described for users in `docs/library.md`, made from the
comments in the modules.
"""
