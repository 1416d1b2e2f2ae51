"""The session of the engine's tests, and a small pipeline."""

from tests.run.spark.conftest import spark

__all__ = ["spark"]
