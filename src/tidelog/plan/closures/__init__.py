"""Kinds of recursion that engines know a better way for. Imports `join`.

* `recognise`, `same_generation`, `classify`: closures, equivalences, same generation; what a stratum is.
* `components`: equivalences of which others read groups only.
* `linearise`, `decompose`, `exchange`: linear form; independent pieces; partitions that exchange what is new.
* `merge_equals`: relations that are equal are one; `split_closures`, `split_modules`: what feeds a closure apart from
  it; `split_parts`: closures of parts of relations; `replace_equals`: rules that replace equals by equals;
  `tell_modules`: all of these in words.
"""
