"""DBSP on columns, and the dynamic Datalog interpreter (paper 000) as a circuit on it. The library is `tidelog.dbsp`.

| file | what |
| --- | --- |
| `values`, `zset`, `indexed` | values as codes; Z-sets and indexed Z-sets as sorted columns with weights |
| `stream` | streams and operators by definition: what the rest must agree with |
| `trace`, `operators` | what streams brought so far, arranged for look-ups; the incremental operators |
| `circuit`, `draw` | circuits with loops, which one can build and step; as DOT and Mermaid |
"""
