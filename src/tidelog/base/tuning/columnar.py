"""Thresholds of `run.columnar`: sorting, batches, joins, and how these are ordered."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Sorting:
    """How packed rows are sorted, and brought in from outside."""

    apart: int = threshold(1 << 18, draws=(2, 10, 60), fitted="loading")
    """From this many rows on, sorting cuts them by their highest digit first, and threads share it."""
    insertion: int = threshold(24, draws=(0, 3), fitted="loading", kernel=True)
    """Up to this many keys are sorted by insertion."""
    own_memory: float = threshold(0.75, draws=(0.0, 1.0), fitted="none: a bound on memory")
    """If repetitions leave no more than this share of rows they move to memory of their own."""
    arrow_from: int = threshold(1 << 18, draws=(0, 6), fitted="loading")
    """From this many rows on, what Arrow has in parts is packed part by part: joining them would copy them."""
    arrow_part: int = threshold(1 << 14, draws=(0, 3), fitted="loading")
    """Parts of fewer rows than this on average are joined: each costs some calls."""


@record
class Batches:
    """How sorted batches are searched and merged."""

    fence_from: int = threshold(1 << 16, draws=(1, 4, 20), fitted="updates")
    """Batches of this many rows have a fence, by which few probes miss the cache half as often."""
    fence_gap: int = threshold(64, draws=(1, 3), fitted="updates", kernel=True)
    """Rows between two entries of a fence."""
    directory_probes: int = threshold(4, draws=(0, 1_000), fitted="batch")
    """A directory is made for at least one probe to this many rows."""
    directory_widest: int = threshold(1 << 18, draws=(1, 16), fitted="batch")
    """A directory has at most this many keys: as many as a processor's second cache holds."""
    directory_spread: int = threshold(4, draws=(0, 1_000), fitted="batch")
    """A directory has at most this many keys for each row."""
    directory_near: int = threshold(1 << 21, draws=(0, 4), fitted="batch")
    """A directory is made of up to this many rows: beyond, probes miss the cache, and sorting costs less."""
    directory_run: int = threshold(16, draws=(0, 100), fitted="batch")
    """A directory is made of more rows, too, if each key has this many on average."""
    small: int = threshold(4_096, draws=(0, 8), fitted="updates")
    """Batches of fewer rows are small: to copy one costs less than to probe one batch more."""
    small_ratio: int = threshold(8, draws=(0, 2), fitted="updates")
    """A small batch is merged with the next unless it is this many times as large."""
    ratio: int = threshold(2, draws=(0, 100), fitted="batch")
    """Any other batch is merged with the next unless it is this many times as large: a geometric list."""
    lasting_ratio: int = threshold(8, draws=(0, 2), fitted="updates")
    """Between updates a batch is at least this many times the next: each probe searches them all."""
    garbage: float = threshold(0.5, draws=(0.0, 1.0), fitted="none: bounds memory to twice what is held")
    """A batch of which more than this share is garbage is written anew."""


@record
class Joins:
    """How bindings are joined with relations, and what becomes of the matches."""

    few: int = threshold(64, draws=(0, 2, 6), fitted="updates")
    """Fewer bindings are searched as they come, by one kernel a batch; more are sorted, or find a directory."""
    few_matches: int = threshold(4_096, draws=(0, 3), fitted="batch")
    """The kernel for few bindings makes up to this many matches where no rank is followed."""
    tiny: int = threshold(8, draws=(0, 2), fitted="updates, regret")
    """A delta of up to this many rows is sieved before a rule is evaluated: for what later scans can meet."""
    sieved: int = threshold(1 << 15, draws=(0, 4), fitted="none: a bound on memory")
    """Batches of up to this many rows may have sets of their values for it."""
    asked: int = threshold(500, draws=(0, 1), fitted="regret")
    """They have once they were asked for as often as they have this many rows: a join that finds nothing costs more."""
    bindings: int = threshold(1 << 22, draws=(2, 8), fitted="none: a bound on memory")
    """Bindings matched at a time: bounds what they take besides."""
    examined: int = threshold(1 << 24, draws=(1, 12), fitted="none: limits are looked at in between")
    """Where matches of two scans are to meet, about this many are walked through at a time."""
    matches: int = threshold(1 << 20, draws=(1, 6), fitted="batch")
    """About this many matches are emitted at a time: bounds memory, and lets threads share them."""
    condense_from: int = threshold(1 << 18, draws=(0, 4), fitted="batch")
    """Derivations of this many rows are rid of repetitions at once: the others wait for those of the round."""
    unite_ratio: int = threshold(2, draws=(0, 100), fitted="batch")
    """Sorted derivations are united with those before that are up to this many times as large: few remain."""
    order_from: int = threshold(512, draws=(0, 4), fitted="batch")
    """From this many rows on, the first scan is read in an order by which the next step need not sort."""
    choose_from: int = threshold(512, draws=(0, 4), fitted="batch")
    """From this many bindings on, the order of a cyclic body is chosen binding by binding (Ngo et al.)."""
    choose_matches: int = threshold(8, draws=(0, 1), fitted="batch")
    """For bindings that have more than this many matches: for others choosing costs more than it saves."""
    choose_share: float = threshold(0.5, draws=(0.0, 1.5), fitted="batch")
    """The share of all matches that these bindings must have for it."""
    repeats_from: int = threshold(4, draws=(0, 1), fitted="batch")
    """From more matches a binding on, repetitions are looked for while matches are emitted."""
    repeats_seldom: float = threshold(0.85, draws=(0.0, 1.0), fitted="batch")
    """If more than this share of the matches were distinct, that pauses."""
    repeats_pause: int = threshold(2, draws=(0, 1), fitted="batch", kernel=True)
    """Evaluations for which looking for repetitions pauses then."""
    recent: int = threshold(1 << 15, draws=(4, 16), fitted="batch", kernel=True)
    """Rows remembered to leave out repetitions, as many as a core's cache holds: a power of two, at least 4."""
    counted_from: int = threshold(4, draws=(0, 1), fitted="batch")
    """New rows derived more often on average are kept with how often; then they are no longer sorted fast."""
    together: int = threshold(64, draws=(1, 3), fitted="updates", kernel=True)
    """Keys far apart that are searched side by side, so that the processor fetches what they need at once."""
    gallop: int = threshold(8, draws=(0,), fitted="batch", kernel=True)
    """Of two runs that meet, one this many times longer is not walked through but searched."""
    marks: int = threshold(1 << 19, draws=(0, 6), fitted="batch")
    """Codes of runs that meet are marked one by one if they spread no wider than the cache."""


@record
class Maps:
    """When the tuples of a head relation are kept as bits, so that what is known is left out at once (`known`)."""

    least: int = threshold(1 << 12, draws=(0, 4), fitted="batch")
    """For fewer tuples and matches no map is made."""
    small_bits: int = threshold(26, draws=(0, 6), fitted="batch")
    """A map of up to two to this power bits is small: it fits in the cache of a processor."""
    spread: int = threshold(4_096, draws=(0, 1), fitted="batch")
    """A small map has at most this many bits for each tuple or match there is."""
    large_from: int = threshold(1 << 20, draws=(0, 8), fitted="batch")
    """A larger map is made for this many tuples and matches."""
    widest_bits: int = threshold(34, draws=(0, 14), fitted="none: a bound on memory")
    """It has at most two to this power bits: two gigabytes, of which most are never touched."""
    dense: int = threshold(128, draws=(0, 1 << 30), fitted="batch")
    """Its lines have at most this many bits for each tuple or match."""
    near: int = threshold(1 << 23, draws=(0, 64), fitted="batch")
    """The lines to which a stretch of matches goes have at most this many bits: the cache of a core."""
    stretch: int = threshold(64, draws=(1, 3), fitted="batch", kernel=True)
    """The matches of this many bindings tell how far matches stray."""


@record
class Filters:
    """When tuples without a partner in a later scan are left out before they are joined (`semijoin`)."""

    least: int = threshold(1 << 14, draws=(0, 4), fitted="batch")
    """Smaller batches are not reduced."""
    widest: int = threshold(1 << 24, draws=(0, 6), fitted="none: a bound on memory")
    """Columns whose values spread wider have no filter."""
    probed: int = threshold(4, draws=(0, 1_000), fitted="batch")
    """A batch is reduced for at least one binding to this many of its rows."""
    sample: int = threshold(512, draws=(1, 4), fitted="batch")
    """Rows of a batch by which it is seen whether to reduce it is worth it."""
    worth: float = threshold(0.5, draws=(0.0, 1.0), fitted="batch")
    """A batch is reduced if no more than this share of the sample is kept."""


@record
class Estimates:
    """What is known of relations when their joins are ordered (`ordering`)."""

    scans: int = threshold(3, draws=(0, 2, 9), fitted="batch, updates")
    """Bodies of this many scans are ordered by live sizes; with fewer there is little to choose."""
    again: int = threshold(2, draws=(1, 5), fitted="updates", kernel=True)
    """They are ordered again when a size has changed by two to this power."""
    sample: int = threshold(4_096, draws=(1, 4), fitted="batch")
    """Rows by which the distinct values of a column are estimated."""
    repeated: int = threshold(2, draws=(0, 100), fitted="none: two is where a value repeats")
    """If the sample has this many rows for each distinct value they are taken for all, else scaled up."""
    join_plans: int = threshold(10_000, draws=(0, 2), fitted="none: a bound on memory")
    """Trees made ready that are kept; they are forgotten when there are more."""
    programs: int = threshold(1_000, draws=(0, 1), fitted="none: a bound on memory")
    """Programs of the machine for small rounds that are kept."""
