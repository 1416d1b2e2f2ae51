-- Transitive closure, right-linear.
with recursive Path(a, b) as (
    select a, b from Edge
    union
    select Edge.a, Path.b from Edge join Path on Edge.b = Path.a
)
select 'Path', count(*) from Path;
