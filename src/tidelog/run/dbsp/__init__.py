"""DBSP on columns, and the dynamic Datalog interpreter (paper 000) as a circuit on it. The library is `tidelog.dbsp`.

The rooms, each of which imports only those before it:

* `zsets`: Z-sets and streams of them. `circuits`: incremental operators, connected.
* `terms`: rules and facts as the paper writes them.
* `rewriting`: what the interpreter does with rules. `interpreter`: the circuit: facts and rules in, changes out.
* `dyre`: the interpreter by itself: push, retract, poll.
* `engine`, `translate`, `expressions`: the strategy `dbsp` of a database: plans as rules of the interpreter.
* `show`: these rules as text.
"""
