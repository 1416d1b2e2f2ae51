"""Z-sets and streams of them: columns of values as codes, with integer weights.

* `values`: values of any type as codes; `columns`: columns of numpy and Arrow as such.
* `zset`, `indexed`: Z-sets and indexed Z-sets as sorted columns with weights.
* `stream`: streams and operators by definition: what the rest must agree with.
* `trace`: what streams brought so far, arranged for look-ups.
"""
