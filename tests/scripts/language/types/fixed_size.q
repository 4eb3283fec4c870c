w : vec3 = [1,2,3]
print w
m : mat2x2 = [[1,2],[3,4]]
print m
try
    z : vec3 = [1,2]
catch e
    print "refused"
end
print zeros(3) + w
i : ivec2 = [1.7, 2.2]
print i
