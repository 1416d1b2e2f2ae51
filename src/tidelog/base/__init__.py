"""Words every layer shares: source spans, diagnostics, errors, types, values, graphs.

Imports only the standard library.
"""
