-- Triangles.
create table Triangle as
    select xy.a, xy.b, yz.b as c
    from Edge xy join Edge yz on yz.a = xy.b join Edge xz on xz.a = xy.a and xz.b = yz.b;
select 'Triangle', count(*) from Triangle;
