"""How to compute a program: strata, join plans, delta variants, index choice. Imports `base` and `logic`."""
