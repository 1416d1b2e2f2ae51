"""The Python side of the library's modules about notations.

`documents` (JSON), `notations` (base64, addresses, identifiers), `patterns` (regular expressions, which `rust_patterns`
translates), `urls` with `hosts`, `hashes` (those of DDlog).
"""
