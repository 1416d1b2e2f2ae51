-- Same generation.
with recursive Same(a, b) as (
    select l.b, r.b from Edge l join Edge r on l.a = r.a where l.b <> r.b
    union
    select l.b, r.b from Same join Edge l on l.a = Same.a join Edge r on r.a = Same.b
)
select 'Same', count(*) from Same;
