-- Transitive closure, left-linear.
with recursive Path(a, b) as (
    select a, b from Edge
    union
    select Path.a, Edge.b from Path join Edge on Path.b = Edge.a
)
select 'Path', count(*) from Path;
