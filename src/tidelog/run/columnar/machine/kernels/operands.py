"""What stands where in the lines of numbers that the interpreter reads, and in its answer."""

DELTA, FIRST, LAST, HEAD, BINDS, BOUND, GIVES, GIVEN, TWIN = range(9)
"""A variant: member whose delta it reads, steps, member of the head, fields that its delta binds, and of the head; how
many of the next lines are the same with its steps in another order."""
VARIANT = 9
"""Numbers of a variant."""

ANTI, BATCHES, END, FULL, SHIFT, KEY, KEYED, NEW, NAMED, OLD, RANKED = range(11)
"""An instruction: if it is an anti-join, batches, prefix, fields of the key, fields bound, old tuples only, ranks."""

STEP = 11
"""Numbers of an instruction."""

KIND, WHAT, WORD, DOWN, MASK, BASE = range(6)
"""A field: what to do with it, a variable or constant, and its place in a row."""
FIELD = 6
"""Numbers of a field."""
SET, SAME, CONSTANT, UNLIKE, OTHER = range(5)
"""A field is (or gives) a variable; it must equal a variable; it must equal (or is) a constant; it must differ from a
variable, from a constant."""

ROWS, STRIDE, SIZE, MARKS, LIMIT, RANKS, RANK, MEMBER, COUNTS, LINE, NEXT, GONE = range(12)
"""A batch: rows, bytes from word to word, number, marks, greatest mark seen, ranks or the rank of all, the member whose
recent tuples these are or -1, counts, bytes from line to line and from count to count, how many rows were marked."""
BATCH = 12
"""Numbers of a batch."""

WORDS, ORDERS, ORDERED, READ, BLOCKED, SETTLES = range(6)
"""A member: words of a row, its orders (the first decides membership), if a rule reads it, and one left out does, and
whether its tuples that lose support are settled: counted, or lifted and counted."""
COUNTS_LEFT, LIFTS = 1, 2

WIDTH, MOVES, MOVED, HELD, HOLDING = range(5)
"""An order of a member: words of a row, the moves that make one of a row of the first order, and batches."""

MEMBERS, ORDER = 6, 5
"""Numbers of a member and of an order."""

ROUNDS, DERIVATIONS, VISITS, LOGGED, SHIFTED, STATUS, PROVED = range(7)
"""An answer. `SHIFTED` are the words of recent tuples that made room for others, `PROVED` the tuples that turned out to
have support that nobody has counted."""
ANSWER = 7
"""Numbers of an answer."""
TOO_MANY, NOTHING = 1, 2
"""The status if a round was too large, and if what was given already was, so that nothing was done."""

PLACES = 8
"""Bits of the bucket index in the table of last keys."""
UNCOUNTED = -(1 << 62)
"""Instead of a count: a tuple has derivations, but nobody has counted them. What is added to it leaves it below 0."""
