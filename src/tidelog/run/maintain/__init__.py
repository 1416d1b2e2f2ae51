"""Maintenance algorithms, one a file, written once over `run.contract.Backend`; each reads like its paper."""
