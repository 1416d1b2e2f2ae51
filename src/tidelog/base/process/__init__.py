"""What a process has: time, memory, locks, a garbage collector, a folder for compiled code.

* `meter`: time and memory that an evaluation may still take. `growth`: values that ask before they grow.
* `calls`: how deep functions may call themselves.
* `lock`: locks that no interrupt leaves taken. `gc_pause`: the garbage collector off while trees are built.
* `cache_folder`: where compiled code may be kept. `java`: the Java of the machine.
"""
