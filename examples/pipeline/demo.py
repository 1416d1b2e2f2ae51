"""A day of a data pipeline on Spark in local mode: python demo.py FOLDER.

Loads a generated network and derives what reaches what, applies a day of changes, adds a rule, and shows what each
changes, how the program is computed, and how long it took. Without Java it says so and ends well.
"""

import runpy
import shutil
import sys
import time
from pathlib import Path

import tidelog
from tidelog.session.pipeline.run import Outcome

HERE = Path(__file__).parent
RULE = 'Violation(a, b) :- Reach(a, b), Host(a, "guest"), Host(b, "vault").\n'


def main(folder: Path) -> None:
    """Run the day."""
    shutil.rmtree(folder, ignore_errors=True)
    runpy.run_path(str(HERE / "generate.py"))["main"](folder)
    for name in ("policy.dl", "pipeline.toml"):
        shutil.copy(HERE / name, folder)
    with tidelog.Pipeline(folder / "pipeline.toml") as pipeline:
        started = time.perf_counter()
        try:
            spark = pipeline.spark
        except tidelog.UserError as error:
            print(f"The part on Spark is skipped: {error}.")
            return
        print(f"Spark {spark.version} started in {time.perf_counter() - started:.1f} s")
        for outcome in pipeline.run():
            show("the network is loaded", outcome)
        print("\nHow it is computed (a diagram for Mermaid):\n")
        print(pipeline.plan.mermaid())
        for outcome in pipeline.run(folder / "day"):
            show("a day of changes", outcome)
        with (folder / "policy.dl").open("a") as program:
            program.write(RULE)
        for outcome in pipeline.run():
            show("a rule is added to policy.dl", outcome)
        print("\nVersions, each of which can be gone back to:")
        for version in pipeline.state.history():
            print(f"  {version.number}  {version.reason}: {len(version.changes)} relations changed")
    print(f"\nThe violations are in {folder}/out, a folder of changes for each version beside them.")


def show(title: str, outcome: Outcome) -> None:
    """Print what a version changed, and the time that each stratum took."""
    print(f"\nversion {outcome.version.number}: {title} ({outcome.seconds:.1f} s)")
    for relation, (gained, lost) in outcome.version.changes.items():
        print(f"  {relation:10} {gained:+9,} {-lost:+9,}")
    for work in outcome.work:
        names = ", ".join(work.relations)
        print(f"    {work.seconds:6.2f} s  {names}: {work.strategy}, {work.rounds} rounds  {work.reason}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
