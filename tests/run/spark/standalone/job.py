"""What is submitted: facts from Parquet, two updates and a change of the rules; answers and changes to Parquet.

Arguments are the program, the folder of facts and the folder of results. Facts are in `<step>/<relation>/<sign>`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tidelog import Database

STEPS = ("load", "update", "rule")
RULE = "Reach(y, x) :- Edge(x, y), Odd(x)."


def run(program: Path, facts: Path, results: Path) -> None:
    """Bring the program's answers up to date step by step, and write what each step changed."""
    spark = SparkSession.builder.getOrCreate()
    database = Database(program, engine="spark", spark=spark)
    for step in STEPS:
        with database.transaction() as tx:
            for folder in sorted((facts / step).glob("*/*")):
                rows = spark.read.parquet(str(folder))
                (tx.insert if folder.name == "insert" else tx.delete)(folder.parent.name, rows)
            if step == "rule":
                tx.add_rules(RULE)
        for name, change in tx.result.changes.items():
            change.to_spark(spark).write.parquet(str(results / step / name))
        for work in tx.result.profile:
            sys.stdout.write(f"{step}: {', '.join(work.relations)} {work.strategy}, {work.rounds} rounds\n")
        sys.stdout.flush()
    for view in database.relations():
        view.to_spark().write.parquet(str(results / "answers" / view.name))
    spark.stop()


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))
