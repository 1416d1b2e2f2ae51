"""DBSP on columns, and the dynamic Datalog interpreter (paper 000) as a circuit on it. The library is `tidelog.dbsp`.

| file | what |
| --- | --- |
| `values`, `zset`, `indexed` | values as codes; Z-sets and indexed Z-sets as sorted columns with weights |
| `stream` | streams and operators by definition: what the rest must agree with |
| `trace`, `operators` | what streams brought so far, arranged for look-ups; the incremental operators |
| `circuit`, `draw`, `tagged` | circuits with loops, to build, step and draw; several Z-sets on one wire |
| `terms` | rules and facts as the paper writes them |
| `kit` | what rules say to the interpreter: steps, directions, signals, join orders |
| `interpreter` | the circuit: facts and rules in, changes of facts out |
| `rewrites`, `product`, `ground`, `aggregates`, `parts` | its operators, and rewrites in columns |
| `dyre` | the interpreter by itself: push, retract, poll |
| `engine`, `translate`, `expressions` | the strategy `dbsp` of a database: plans as rules of the interpreter |
"""
