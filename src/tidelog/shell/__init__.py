"""Faces: the command line. Imports `session` and `base`."""
