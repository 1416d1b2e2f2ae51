"""Thresholds of `run.columnar`: sorting, batches, joins, and how these are ordered."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.thresholds import threshold


@record
class Sorting:
    """How packed rows are sorted, and brought in from outside."""

    apart: int = threshold(
        1 << 18,
        draws=(2, 10, 60),
        reason="From this many rows on, sorting cuts them by their highest digit first, and threads share it.",
        fitted="loading",
    )
    insertion: int = threshold(
        24,
        draws=(0, 3),
        reason="Up to this many keys are sorted by insertion.",
        fitted="loading",
        kernel=True,
    )
    own_memory: float = threshold(
        0.75,
        draws=(0.0, 1.0),
        reason="If repetitions leave no more than this share of rows they move to memory of their own.",
        fitted="none: a bound on memory",
    )
    arrow_from: int = threshold(
        1 << 18,
        draws=(0, 6),
        reason="From this many rows on, what Arrow has in parts is packed part by part: joining them would copy them.",
        fitted="loading",
    )
    arrow_part: int = threshold(
        1 << 14,
        draws=(0, 3),
        reason="Parts of fewer rows than this on average are joined: each costs some calls.",
        fitted="loading",
    )


@record
class Batches:
    """How sorted batches are searched and merged."""

    fence_from: int = threshold(
        1 << 16,
        draws=(1, 4, 20),
        reason="Batches of this many rows have a fence, by which few probes miss the cache half as often.",
        fitted="updates",
    )
    fence_gap: int = threshold(
        64,
        draws=(1, 3),
        reason="Rows between two entries of a fence.",
        fitted="updates",
        kernel=True,
    )
    directory_probes: int = threshold(
        4,
        draws=(0, 1_000),
        reason="A directory is made for at least one probe to this many rows.",
        fitted="batch",
    )
    directory_widest: int = threshold(
        1 << 18,
        draws=(1, 16),
        reason="A directory has at most this many keys: as many as a processor's second cache holds.",
        fitted="batch",
    )
    directory_spread: int = threshold(
        4,
        draws=(0, 1_000),
        reason="And at most this many for each row.",
        fitted="batch",
    )
    directory_near: int = threshold(
        1 << 21,
        draws=(0, 4),
        reason="A directory is made of up to this many rows: beyond, probes miss the cache, and sorting costs less.",
        fitted="batch",
    )
    directory_run: int = threshold(
        16,
        draws=(0, 100),
        reason="Or of runs of this many rows each.",
        fitted="batch",
    )
    small: int = threshold(
        4_096,
        draws=(0, 8),
        reason="Batches of fewer rows are small: to copy one costs less than to probe one batch more.",
        fitted="updates",
    )
    small_ratio: int = threshold(
        8,
        draws=(0, 2),
        reason="A small batch is merged with the next unless it is this many times as large.",
        fitted="updates",
    )
    ratio: int = threshold(
        2,
        draws=(0, 100),
        reason="Any other batch is merged with the next unless it is this many times as large: a geometric list.",
        fitted="batch",
    )
    lasting_ratio: int = threshold(
        8,
        draws=(0, 2),
        reason="Between updates a batch is at least this many times the next: each probe searches them all.",
        fitted="updates",
    )
    garbage: float = threshold(
        0.5,
        draws=(0.0, 1.0),
        reason="A batch of which more than this share is garbage is written anew.",
        fitted="none: bounds memory to twice what is held",
    )


@record
class Joins:
    """How bindings are joined with relations, and what becomes of the matches."""

    few: int = threshold(
        64,
        draws=(0, 2, 6),
        reason="Fewer bindings are searched as they come, by one kernel a batch; more are sorted, or find a directory.",
        fitted="updates",
    )
    few_matches: int = threshold(
        4_096,
        draws=(0, 3),
        reason="The kernel for few bindings makes up to this many matches where no rank is followed.",
        fitted="batch",
    )
    tiny: int = threshold(
        8,
        draws=(0, 2),
        reason="A delta of up to this many rows is looked through for the constants of a rule before it is evaluated.",
        fitted="updates",
    )
    bindings: int = threshold(
        1 << 22,
        draws=(2, 8),
        reason="Bindings matched at a time: bounds what they take besides.",
        fitted="none: a bound on memory",
    )
    examined: int = threshold(
        1 << 24,
        draws=(1, 12),
        reason="Where matches of two scans are to meet, about this many are walked through at a time.",
        fitted="none: limits are looked at in between",
    )
    matches: int = threshold(
        1 << 20,
        draws=(1, 6),
        reason="About this many matches are emitted at a time: bounds memory, and lets threads share them.",
        fitted="batch",
    )
    condense_from: int = threshold(
        1 << 18,
        draws=(0, 4),
        reason="Derivations of this many rows are rid of repetitions at once: the others wait for those of the round.",
        fitted="batch",
    )
    unite_ratio: int = threshold(
        2,
        draws=(0, 100),
        reason="Sorted derivations are united with those before that are up to this many times as large: few remain.",
        fitted="batch",
    )
    order_from: int = threshold(
        512,
        draws=(0, 4),
        reason="From this many rows on, the first scan is read in an order by which the next step need not sort.",
        fitted="batch",
    )
    choose_from: int = threshold(
        512,
        draws=(0, 4),
        reason="From this many bindings on, the order of a cyclic body is chosen binding by binding (Ngo et al.).",
        fitted="batch",
    )
    choose_matches: int = threshold(
        8,
        draws=(0, 1),
        reason="For bindings that have more than this many matches: for others choosing costs more than it saves.",
        fitted="batch",
    )
    choose_share: float = threshold(
        0.5,
        draws=(0.0, 1.5),
        reason="If these have at least this share of all matches.",
        fitted="batch",
    )
    repeats_from: int = threshold(
        4,
        draws=(0, 1),
        reason="From more matches a binding on, repetitions are looked for while matches are emitted.",
        fitted="batch",
    )
    repeats_seldom: float = threshold(
        0.85,
        draws=(0.0, 1.0),
        reason="If more than this share of the matches were distinct, that pauses.",
        fitted="batch",
    )
    repeats_pause: int = threshold(
        2,
        draws=(0, 1),
        reason="For this many evaluations.",
        fitted="batch",
        kernel=True,
    )
    recent: int = threshold(
        1 << 15,
        draws=(4, 16),
        reason="Rows remembered to leave out repetitions, as many as a core's cache holds: a power of two, at least 4.",
        fitted="batch",
        kernel=True,
    )
    counted_from: int = threshold(
        4,
        draws=(0, 1),
        reason="New rows derived more often on average are kept with how often; then they are no longer sorted fast.",
        fitted="batch",
    )
    together: int = threshold(
        64,
        draws=(1, 3),
        reason="Keys far apart that are searched side by side, so that the processor fetches what they need at once.",
        fitted="updates",
        kernel=True,
    )
    gallop: int = threshold(
        8,
        draws=(0, 2),
        reason="Of two runs that meet, one this many times longer is not walked through but searched.",
        fitted="batch",
        kernel=True,
    )
    marks: int = threshold(
        1 << 19,
        draws=(0, 6),
        reason="Codes of runs that meet are marked one by one if they spread no wider than the cache.",
        fitted="batch",
    )


@record
class Maps:
    """When the tuples of a head relation are kept as bits, so that what is known is left out at once (`known`)."""

    least: int = threshold(
        1 << 12,
        draws=(0, 4),
        reason="For fewer tuples and matches no map is made.",
        fitted="batch",
    )
    small_bits: int = threshold(
        26,
        draws=(0, 6),
        reason="A map of up to two to this power bits is small: it fits in the cache of a processor.",
        fitted="batch",
    )
    spread: int = threshold(
        4_096,
        draws=(0, 1),
        reason="A small map has at most this many bits for each tuple or match there is.",
        fitted="batch",
    )
    large_from: int = threshold(
        1 << 20,
        draws=(0, 8),
        reason="A larger map is made for this many tuples and matches.",
        fitted="batch",
    )
    widest_bits: int = threshold(
        34,
        draws=(0, 14),
        reason="It has at most two to this power bits: two gigabytes, of which most are never touched.",
        fitted="none: a bound on memory",
    )
    dense: int = threshold(
        128,
        draws=(0, 1 << 30),
        reason="Its lines have at most this many bits for each tuple or match.",
        fitted="batch",
    )
    near: int = threshold(
        1 << 23,
        draws=(0, 64),
        reason="The lines to which a stretch of matches goes have at most this many bits: the cache of a core.",
        fitted="batch",
    )
    stretch: int = threshold(
        64,
        draws=(1, 3),
        reason="The matches of this many bindings tell how far matches stray.",
        fitted="batch",
        kernel=True,
    )


@record
class Filters:
    """When tuples without a partner in a later scan are left out before they are joined (`semijoin`)."""

    least: int = threshold(
        1 << 14,
        draws=(0, 4),
        reason="Smaller batches are not reduced.",
        fitted="batch",
    )
    widest: int = threshold(
        1 << 24,
        draws=(0, 6),
        reason="Columns whose values spread wider have no filter.",
        fitted="none: a bound on memory",
    )
    probed: int = threshold(
        4,
        draws=(0, 1_000),
        reason="A batch is reduced for at least one binding to this many of its rows.",
        fitted="batch",
    )
    sample: int = threshold(
        512,
        draws=(1, 4),
        reason="Rows of a batch by which it is seen whether to reduce it is worth it.",
        fitted="batch",
    )
    worth: float = threshold(
        0.5,
        draws=(0.0, 1.0),
        reason="A batch is reduced if no more than this share of the sample is kept.",
        fitted="batch",
    )


@record
class Estimates:
    """What is known of relations when their joins are ordered (`ordering`)."""

    scans: int = threshold(
        3,
        draws=(0, 2, 9),
        reason="Bodies of this many scans are ordered by live sizes; with fewer there is little to choose.",
        fitted="batch, updates",
    )
    again: int = threshold(
        2,
        draws=(1, 5),
        reason="They are ordered again when a size has changed by two to this power.",
        fitted="updates",
        kernel=True,
    )
    sample: int = threshold(
        4_096,
        draws=(1, 4),
        reason="Rows by which the distinct values of a column are estimated.",
        fitted="batch",
    )
    repeated: int = threshold(
        2,
        draws=(0, 100),
        reason="If the sample has this many rows for each distinct value they are taken for all, else scaled up.",
        fitted="none: two is where a value repeats",
    )
    courses: int = threshold(
        10_000,
        draws=(0, 2),
        reason="Trees made ready that are kept; they are forgotten when there are more.",
        fitted="none: a bound on memory",
    )
    scripts: int = threshold(
        1_000,
        draws=(0, 1),
        reason="The same of what the kernel for small rounds was told of rules.",
        fitted="none: a bound on memory",
    )
