"""The executable definition of the language: naive evaluation over Python sets and dictionaries, obvious before fast.

`operators` and `evaluate` say what an expression means, `algebra` what a plan node means, `engine` what a program
means. Shares no evaluation code with the other engines, which are tested against it.
"""
