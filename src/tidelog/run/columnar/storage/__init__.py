"""Relations: packed rows in sorted batches. Imports `arrays`.

* `dictionary`, `layout`, `rows`: values as codes; columns side by side in words; rows in and out.
* `batch`, `relation`: sorted rows with ranks and support; geometric batches in several column orders, and a journal.
* `lazy`: a batch whose rows are written when they are first read.
"""
