"""What stands where in the lines of numbers by which `rounds` is told what to do; see there."""

DELTA, FIRST, LAST, HEAD, BINDS, BOUND, GIVES, GIVEN, TWIN = range(9)
"""A variant: member whose delta it reads, steps, member of the head, fields that its delta binds, and of the head; how
many of the next lines are the same with its steps in another order."""
VARIANT = 9
"""How many numbers a variant has."""

ANTI, BATCHES, END, FULL, SHIFT, KEY, KEYED, NEW, NAMED, OLD, RANKED = range(11)
"""A step: whether it is an anti-join, batches, prefix, fields of the key, fields bound, old tuples only, with ranks."""

STEP = 11
"""How many numbers a step has."""

KIND, WHAT, WORD, DOWN, MASK, BASE = range(6)
"""A field: what to do with it, a variable or constant, and its place in a row."""
FIELD = 6
"""How many numbers a field has."""
SET, SAME, CONSTANT = range(3)
"""A field is (or gives) a variable; it must equal a variable; it must equal (or is) a constant."""

ROWS, STRIDE, SIZE, MARKS, LIMIT, RANKS, RANK, MEMBER, COUNTS, LINE, NEXT, GONE = range(12)
"""A batch: rows, bytes from word to word, number, marks, greatest mark seen, ranks or the rank of all, the member whose
recent tuples these are or -1, counts, bytes from line to line and from count to count, how many rows were marked."""
BATCH = 12
"""How many numbers a batch has."""

WORDS, ORDERS, ORDERED, READ, BLOCKED, SETTLES = range(6)
"""A member: words of a row, its orders (the first decides membership), if a rule reads it, and one left out does, and
whether its tuples that lose support are settled: counted, or lifted and counted."""
COUNTS_LEFT, LIFTS = 1, 2

WIDTH, MOVES, MOVED, HELD, HOLDING = range(5)
"""An order of a member: words of a row, the moves that make one of a row of the first order, and batches."""

MEMBERS, ORDER = 6, 5
"""How many numbers a member and an order have."""

ROUNDS, DERIVATIONS, VISITS, LOGGED, SHIFTED, STATUS, PROVED = range(7)
"""What is told in return: among other things how many words of recent tuples made room for others, and how many tuples
have turned out to have support that nobody has counted."""
ANSWER = 7
"""How many numbers that are."""
TOO_MANY, NOTHING = 1, 2
"""The status if a round was too large, and if what was given already was, so that nothing was done."""

PLACES = 8
"""So many bits has the place where the last of the keys is noted that belong there."""
UNCOUNTED = -(1 << 62)
"""Instead of a count: a tuple has derivations, but nobody has counted them. What is added to it leaves it below 0."""
