"""A living database: transactions, changes, sources and sinks. Imports every folder before it."""
