% Arrays of the element type of another one.
a = zeros_like(uint8([[1,2],[3,4]]))
print type(a), " ", a
print type(ones_like(float64([1,2,3]))), " ", ones_like([1,2,3], 2, 2), " ", ones_like([1+2j], [1,2])
print type(uninit_like(float64([1]), 2, 3, 4)), " ", size(uninit_like([1,2], [3,4]))
b = cast_like([-1,1.9,300], uint8([0]))
print type(b), " ", b, " ", type(cast_like([1], [2j])), " ", cast_like(2.5, int([1]))
try
    cast_like([1j], [1])
catch e
    print e
end
try
    zeros_like("a")
catch e
    print e
end
try
    zeros_like([1], -1)
catch e
    print e
end
