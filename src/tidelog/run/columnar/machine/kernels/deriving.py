"""What small deltas derive: the variants of rules, instruction by instruction, each for all bindings at once.

The fields of a tuple of the delta bind registers; each instruction searches the batches of its relation for the keys
that bindings make, and binds more registers for each match; bindings that have passed all instructions give rows of the
head. Where two scans can come next, each tuple of the delta takes the one in which it has fewer matches.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.memory import read_mark, read_word
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.searching import bind, compare, make_key, rank_of, run_end, search
from tidelog.run.columnar.machine.kernels.state import Bench, Code, Recent, Registers
from tidelog.run.kernel_cache import part
from tidelog.run.kernel_types import Int, Lines, Places, Rows, Tables

U = np.uint64
NEVER = np.iinfo(np.int64).max


@part
def address_of(table: Tables, m: int) -> Int:
    """Return where the rows of a member begin."""
    return np.int64(table.ctypes.data) + 8 * m * table.shape[1] * table.shape[2]


@part
def derive(
    code: Code, recent: Recent, begun: Places, end: Places, ranks: Lines, ranked: bool, bench: Bench, answer: Places,
    largest: int, alone: int,
) -> Int:  # fmt: skip
    """Write what recent tuples from some places to others derive, by their ranks; return how many rows.

    -1, and the answer says so, if they are too many or have no room.
    """
    variants, fields, registers, derived = code.variants, code.fields, bench.registers, bench.derived
    left, right, left_rank, right_rank = registers.left, registers.right, registers.left_rank, registers.right_rank
    choice, most = registers.choice, answer[op.VISITS] + left.shape[0]
    made = after = np.int64(0)
    while after < variants.shape[0]:
        v = after
        after += 1 + variants[v, op.TWIN]
        m = variants[v, op.DELTA]
        if end[m] - begun[m] > left.shape[0]:
            answer[op.STATUS] = op.TOO_MANY
            return -1
        rows, stride = address_of(recent.rows, m), 8 * recent.rows.shape[2]
        choice[: end[m] - begun[m]] = v
        if after > v + 1:
            _choose(code, recent, begun[m], end[m], v, after, registers, answer)
        for chosen in range(v, after):
            n = np.int64(0)
            for i in range(begun[m], end[m]):
                if choice[i - begun[m]] == chosen and bind(
                    fields, variants[chosen, op.BINDS], variants[chosen, op.BOUND], rows, stride, i, left, n
                ):
                    left_rank[n] = ranks[m, i]
                    n += 1
            for s in range(variants[chosen, op.FIRST], variants[chosen, op.LAST]):
                if n > 0:
                    n = _step(
                        code, recent, ranks, ranked, s, n, most, left, left_rank, right, right_rank, registers, answer,
                        alone,
                    )  # fmt: skip
                    left, right = right, left
                    left_rank, right_rank = right_rank, left_rank
            if n < 0 or made + n > largest:
                answer[op.STATUS] = op.TOO_MANY
                return -1
            for i in range(n):
                if not make_key(
                    fields, variants[chosen, op.GIVES], variants[chosen, op.GIVEN], left, i, derived.rows, made
                ):
                    answer[op.STATUS] = op.TOO_MANY
                    return -1
                derived.ranks[made], derived.members[made] = left_rank[i], variants[chosen, op.HEAD]
                made += 1
    answer[op.DERIVATIONS] += made
    return made


@part
def _step(
    code: Code, recent: Recent, ranks: Lines, ranked: bool, s: int, n: int, most: int, left: Rows, left_rank: Places,
    right: Rows, right_rank: Places, registers: Registers, answer: Places, alone: int,
) -> int:  # fmt: skip
    """Take n bindings through an instruction; return how many there are then, -1 if there were too many visits.

    An anti-join lets those pass that have no match.
    """
    fields, batches, keys, low, met = code.fields, code.batches, registers.keys, registers.low, registers.met
    step = code.steps[s]
    full, shift, anti = step[op.FULL], step[op.SHIFT], step[op.ANTI]
    visits, made = answer[op.VISITS] + n, 0
    if visits > most:
        answer[op.VISITS] = visits
        return -1
    distinct = _make_keys(fields, step, n, left, registers, alone)
    for b in range(step[op.BATCHES], step[op.END]):
        rows, stride, member = batches[b, op.ROWS], batches[b, op.STRIDE], batches[b, op.MEMBER]
        size = batches[b, op.SIZE] if member < 0 else recent.end[member]
        marks, limit = batches[b, op.MARKS], batches[b, op.LIMIT]
        search(rows, stride, size, keys, distinct, full, shift, low)
        for i in range(n):
            key = registers.key_of[i]
            j = low[key] if key >= 0 and not met[i] else size
            while j < size and not met[i] and compare(rows, stride, j, keys, key, full, shift) == 0:
                visits += 1
                if visits > most:
                    answer[op.VISITS] = visits
                    return -1
                if member >= 0:
                    place = np.int64(read_word(rows + batches[b, op.LINE] + 8 * j))
                    seen = not step[op.OLD] or place < recent.begun[member]
                else:
                    seen = not marks or np.int64(read_mark(marks + j)) <= limit
                if seen:
                    _copy(left, i, right, made)
                    if bind(fields, step[op.NEW], step[op.NAMED], rows, stride, j, right, made):
                        met[i] = anti
                        if not anti:
                            right_rank[made] = left_rank[i]
                            if ranked and step[op.RANKED]:
                                right_rank[made] = max(left_rank[i], rank_of(batches, b, j, ranks))
                            made += 1
                j += 1
    answer[op.VISITS] = visits
    if anti:
        for i in range(n):
            if not met[i]:
                _copy(left, i, right, made)
                right_rank[made] = left_rank[i]
                made += 1
    return made


@part
def _copy(left: Rows, i: int, right: Rows, j: int) -> None:
    for name in range(left.shape[1]):
        right[j, name] = left[i, name]


@part
def _make_keys(fields: Rows, step: Places, n: int, left: Rows, registers: Registers, alone: int) -> int:
    """Make the keys by which n bindings are searched, equal ones once if they are not far apart; return how many.

    Up to `alone` bindings are not compared. Write for each binding which key is its own, -1 if there is no room for it,
    and that it has met nothing.
    """
    keys, last = registers.keys, registers.last
    made, wide, some = 0, step[op.FULL] + (step[op.SHIFT] < 64), n > alone
    if some:
        last[:] = -1
    for i in range(n):
        registers.met[i] = 0
        if not make_key(fields, step[op.KEY], step[op.KEYED], left, i, keys, made):
            registers.key_of[i] = -1
            continue
        registers.key_of[i] = made
        if not some:
            made += 1
            continue
        mixed = U(0)
        for w in range(wide):
            mixed = (mixed ^ keys[made, w]) * U(0x9E3779B97F4A7C15)
        place = np.int64(mixed >> U(64 - op.PLACES))
        known = last[place]
        same = known >= 0
        for w in range(wide):
            same = same and keys[known, w] == keys[made, w]
        if same:
            registers.key_of[i] = known
        else:
            last[place] = made
            made += 1
    return made


@part
def _choose(
    code: Code, recent: Recent, begun: int, end: int, v: int, after: int, registers: Registers, answer: Places
) -> None:
    """Choose for each tuple of a delta the variant, of some that differ in order, with fewest matches at first.

    -1 if it has no match in one of them.
    """
    variants, steps, fields, batches = code.variants, code.steps, code.fields, code.batches
    keys, low, fits, choice = registers.keys, registers.low, registers.key_of, registers.choice
    least, found = registers.left_rank, registers.right_rank
    m, n = variants[v, op.DELTA], end - begun
    rows, stride = address_of(recent.rows, m), 8 * recent.rows.shape[2]
    least[:n] = NEVER
    for chosen in range(v, after):
        s = variants[chosen, op.FIRST]
        full, shift = steps[s, op.FULL], steps[s, op.SHIFT]
        first, last, left = variants[chosen, op.BINDS], variants[chosen, op.BOUND], registers.left
        for i in range(n):
            found[i] = 0
            fits[i] = bind(fields, first, last, rows, stride, begun + i, left, 0) and make_key(
                fields, steps[s, op.KEY], steps[s, op.KEYED], left, 0, keys, i
            )
        for b in range(steps[s, op.BATCHES], steps[s, op.END]):
            theirs, apart, member = batches[b, op.ROWS], batches[b, op.STRIDE], batches[b, op.MEMBER]
            size = batches[b, op.SIZE] if member < 0 else recent.end[member]
            search(theirs, apart, size, keys, n, full, shift, low)
            for i in range(n):
                if fits[i]:
                    found[i] += run_end(theirs, apart, size, keys, i, full, shift, low[i]) - low[i]
        for i in range(n):
            if found[i] < least[i]:
                least[i], choice[i] = found[i], chosen if found[i] else -1
    answer[op.VISITS] += n * (after - v)
