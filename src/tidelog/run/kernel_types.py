"""The types of what kernels take, as annotations say them: from these follows the one signature of a kernel.

All arrays are contiguous; how many dimensions they have is part of their type, as it is in numba.
"""

from __future__ import annotations

import numpy as np

Vector = tuple[int]
Matrix = tuple[int, int]
Cube = tuple[int, int, int]

Words = np.ndarray[Vector, np.dtype[np.uint64]]
"""Rows of one word, keys, or a row of bits."""
Rows = np.ndarray[Matrix, np.dtype[np.uint64]]
"""Packed rows, word by word; rows of bits; moves of fields."""
Tables = np.ndarray[Cube, np.dtype[np.uint64]]
Places = np.ndarray[Vector, np.dtype[np.int64]]
"""Places in other arrays, counts, offsets."""
Lines = np.ndarray[Matrix, np.dtype[np.int64]]
Layers = np.ndarray[Cube, np.dtype[np.int64]]
Nodes = np.ndarray[Vector, np.dtype[np.int32]]
"""Nodes of a graph, or their positions in rows."""
Edges = np.ndarray[Matrix, np.dtype[np.int32]]
Ranks = Nodes
Marks = np.ndarray[Vector, np.dtype[np.uint8]]
Counts = np.ndarray[Vector, np.dtype[np.uint32]]
Mask = np.ndarray[Vector, np.dtype[np.bool_]]
Int = int | np.int64
"""What kernels return: the integers of numba, as those of Python or numpy."""
