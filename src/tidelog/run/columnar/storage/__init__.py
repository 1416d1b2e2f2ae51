"""Relations: packed rows in sorted batches. Imports `arrays`.

* `dictionary`, `layout`, `rows`: values as codes; columns side by side in words; rows in and out.
* `batch`, `order`, `relation`: sorted rows with ranks and support, and a journal; geometric batches in one order of
  columns; in several.
* `lazy`: a batch whose rows are written when they are first read.
"""
