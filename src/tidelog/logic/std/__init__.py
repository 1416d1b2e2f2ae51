"""The standard library: modules in the language (`*.dl`), and the Python functions they declare as `extern`.

`std.dl` is the prelude, imported by every program; the others are imported by name. `externs` has the table of the
Python side, one file a topic: `scalars`, `containers`, `groups` for the prelude, `clock` (times), `documents` (JSON),
`notations` (base64, addresses), `patterns` (regular expressions; `rust_patterns` translates them), `reals` (floating
point), `terms` and `datatypes` (RDF). All of it is described for users in `docs/library.md`, made from the comments in
the modules.
"""
