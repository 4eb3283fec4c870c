import "imboundary.q"
x = [1,2,3]
for mode = {"mirror", "mirror_nr", "reflect", "circular", "clamped", "zeros"}
    print mode, " ", bound_extension(x, 0, 2, mode)
end
print bound_extension([[1,2],[3,4]], 1, 1, "mirror")
print bound_extension([[1,2],[3,4]], 1, 1, "zeros")
print size(bound_extension(ones(4,5,3), 2, 3, "circular"))
print bound_extension([1], 0, 2, "mirror_nr"), bound_extension([1,2], 0, 5, "mirror")
try
    bound_extension(x, 1, 1, "wrapped")
catch e
    print e
end
