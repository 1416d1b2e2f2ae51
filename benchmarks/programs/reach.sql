-- What can be reached from some nodes.
with recursive Reach(a) as (
    select a from Start
    union
    select Edge.b from Reach join Edge on Edge.a = Reach.a
)
select 'Reach', count(*) from Reach;
