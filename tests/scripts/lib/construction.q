print zeros(3), ones(2,2), " ", size(uninit(4,5)), " ", czeros(2), cones(1,2)
print zeros([2,3]), " ", size(zeros(size([1,2,3]))), " ", ones(3) + zeros(1,3)
print eye(3)
print eye(2,3)
print linspace(0,1,5), " ", linspace(5,5,1), " ", numel(linspace(0,1)), linspace(1,2,0)
[x, y] = meshgrid(0..2, 0..1)
print x
print y
c = cell(2,2)
print size(c), " ", type(c), " ", cell(3)
o = object()
o.a = 1
print o, " ", isfield(o, "a"), isfield(o, "b"), " ", fieldnames(o)
