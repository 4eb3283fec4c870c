% options: --loops always
type camera : mutable class
    f : scalar
    k : int
    centre : vec
    weights
end
cam = camera(f:=2, k:=3, centre:=[1,2], weights:=[[1,2],[3,4]])
o = object()
o.gain = 10
x = zeros(5)
for i=0..4
    x[i] = cam.f*i + cam.k + cam.centre[mod(i,2)] + o.gain
    cam.weights[mod(i,2),0] += i
end
print x, cam.weights
cam.f = -1
o.other = 1
for i=0..4
    x[i] = cam.f*i + o.gain
end
print x
function y = project(c, p)
    y = c.f*p + c.centre[0]
end
for i=0..4
    x[i] = project(cam, i)
end
print x
try
    for i=0..4
        x[i] = cam.centre[i]
    end
catch e
    print e
end
% the type of a field may change from run to run
for r=0..1
    for i=0..1
        x[i] = o.gain*i
    end
    o.gain = 0.5
end
print x
