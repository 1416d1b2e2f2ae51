"""DuckDB as an oracle: it keeps the inputs of a program, answers its queries from scratch, and compares tables.

Nothing of Tidelog is in it: rows are given and compared as Arrow tables. Every `commit` makes a state, whose tables are
kept. Tables are compared by their fingerprint: the number of rows and the sum of their hashes. What became true counts
for, and what became false against: a change of distinct rows is right if it is the difference of two fingerprints.
Rows are only looked for where fingerprints differ, to be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tidelog.base.errors import UserError
from tidelog.session.soak.sized.programs import Sized

Tables = Mapping[str, pa.Table]
Fingerprint = tuple[int, int]


class Oracle:
    """The inputs of a program after each commit, and its answers."""

    def __init__(self, sized: Sized) -> None:
        try:
            import duckdb
        except ImportError:
            raise UserError("soak --rows compares with DuckDB, which is not installed: pip install duckdb") from None
        self._connection = duckdb.connect(config={"threads": 2})
        self._sized = sized
        self._state = -1

    def commit(self, deleted: Tables, inserted: Tables) -> None:
        """Make the next state: rows go, rows come, and what does both is there."""
        before, self._state = self._state, self._state + 1
        for name in self._sized.inputs:
            if before >= 0 and name not in deleted and name not in inserted:
                self._make(name, f"FROM {_table(name, before)}")
                continue
            come = inserted[name] if name in inserted else deleted[name].slice(0, 0)
            self._with(come=come, gone=deleted[name] if name in deleted else come.slice(0, 0))
            old = f"FROM {_table(name, before)}" if before >= 0 else "FROM come"
            self._make(name, f"({old} EXCEPT FROM gone) UNION FROM come")
        for name, query in self._sized.answers.items():
            self._make(name, query)

    def _make(self, name: str, query: str) -> None:
        """Make a table of this state, which later queries of it find by its plain name."""
        self._all(f"CREATE TABLE {_table(name, self._state)} AS {query}")
        self._all(f'CREATE OR REPLACE VIEW "{name}" AS FROM {_table(name, self._state)}')

    def _all(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _with(self, **tables: pa.Table) -> None:
        for name, table in tables.items():
            self._connection.register(name, table)

    def sample(self, name: str, rows: int, seed: int) -> pa.Table:
        """Return random rows of a relation as it is now, the same for the same seed."""
        ordered = f"FROM {_table(name, self._state)} AS rows ORDER BY hash(rows, {seed}), rows LIMIT {rows}"
        return self._connection.sql(ordered).to_arrow_table()

    def count(self, name: str) -> int:
        """Return the number of rows that a relation has now."""
        return self._fingerprint(_table(name, self._state))[0]

    def compare(self, name: str, state: int, found: pa.Table) -> str | None:
        """Tell how a table differs from the rows of a relation in a state; None if it does not."""
        self._with(found=found)
        if self._fingerprint("found") == self._fingerprint(_table(name, state)):
            return None
        return self._differ("found", _table(name, state))

    def compare_change(self, name: str, state: int, inserted: pa.Table, deleted: pa.Table) -> str | None:
        """Tell how rows that came and went differ from what changed in a state; None if they do not."""
        new, old = _table(name, state), _table(name, max(0, state - 1))
        before = self._fingerprint(old) if state else (0, 0)
        self._with(come=inserted, gone=deleted)
        made, wanted = (
            _minus(self._fingerprint("come"), self._fingerprint("gone")),
            _minus(self._fingerprint(new), before),
        )
        ((distinct,),) = self._all("SELECT count(DISTINCT rows) FROM (FROM come UNION ALL FROM gone) AS rows")
        if made == wanted and distinct == len(inserted) + len(deleted):
            return None
        kept = f"FROM {old}" if state else f"FROM {new} LIMIT 0"
        return (
            f"inserts what {self._differ('come', f'(FROM {new} EXCEPT ({kept}))')}, "
            f"and deletes what {self._differ('gone', f'(({kept}) EXCEPT FROM {new})')}"
        )

    def _fingerprint(self, table: str) -> Fingerprint:
        ((count, hashes),) = self._all(f"FROM {table} AS rows SELECT count(*), sum(hash(rows)::HUGEINT)::HUGEINT")
        return int(count), int(hashes or 0)

    def _differ(self, found: str, wanted: str) -> str:
        told = []
        for word, one, other in (("lacks", wanted, found), ("has too much:", found, wanted)):
            rows = self._all(f"FROM {one} EXCEPT ALL FROM {other}")
            if rows:
                told.append(f"{word} {len(rows)} rows such as {rows[:3]}")
        return " and ".join(told) or "is as it should be"

    def close(self) -> None:
        """Give back the memory."""
        self._connection.close()


def _minus(one: Fingerprint, other: Fingerprint) -> Fingerprint:
    return one[0] - other[0], one[1] - other[1]


def _table(name: str, state: int) -> str:
    return f'"{name}@{state}"'
