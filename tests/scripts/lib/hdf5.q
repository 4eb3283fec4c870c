% needs: hdf5
% devices: one
% HDF5 files: what is written is read again; parts, attributes, and what is refused.
function message = failure(f)
    message = "no error"
    try
        f()
    catch e
        message = e.message
    end
end
makedir("out/lib")
path = "out/lib/all.h5"
o = object()
o.vector = [1,2,3]
o.names = {"x","yé",""}
o.group = object()
o.group.matrix = float64([[1,2],[3,4]])
o.group.text = "text"
o.number = 3
o.truths = [1,2]==[1,3]
o.complex = 1+2i
o.bytes = uint8([[1,2],[3,255]])
o.empty = zeros(0,3)
o.yes = true
o.phasors = complex(zeros(1,2), ones(1,2))
o.whole = int(5)
o.large = uint64([18446744073709551615])
o.nothing = cell(0)
o.notext = ""
save(path, o)
r = load(path)
for name = keys(o)
    print name, " ", isequal(r[name], o[name]) || name == "group", " ", type(r[name])
end
print r.group, r.large
print load(path, "names", "yes")
h5write(path, "/p/q/r", reshape(0..23, [4,6]))
print h5read(path, "/p/q/r", [1,2], [2,3])
print h5read(path, "/p/q/r", [0,1], [2,2], [3,2])
print size(h5read(path, "/p/q/r", [0,0], [0,6])), h5read(path, "names", 1, 1)
h5write(path, "vector", [9,8,7])
h5writeatt(path, "vector", "unit", "mm")
h5write(path, "vector", [7,8,9])
print h5read(path, "vector"), h5info(path, "vector")
h5write(path, "vector", [1,2])
h5writeatt(path, "/", "version", [1,2])
h5writeatt(path, "/", "version", 3)
h5writeatt(path, "/p", "labels", {"a","b"})
print h5info(path, "vector"), h5info(path, "/p"), h5info(path).attributes

print failure(() -> h5read(path, "absent"))
print failure(() -> h5read("out/lib/absent.h5", "x"))
print failure(() -> h5read(path, "/p/q/r", [3,4], [2,3]))
print failure(() -> h5read(path, "/p/q/r", [0,0], [2,2], [4,1]))
print failure(() -> h5read(path, "/p/q/r", [0], [1]))
print failure(() -> h5read(path, "/p/q/r", [0,0]))
print failure(() -> h5read(path, "/p/q/r", [0.5,0], [1,1]))
print failure(() -> h5read(path, "/p/q/r", [0,0], [1,1], [0,1]))
print failure(() -> h5read(path, "/p", [0,0], [1,1]))
print failure(() -> h5read(path, "number", [0], [1]))
print failure(() -> h5write(path, "group", 1))
print failure(() -> h5write(path, "number", object()))
print failure(() -> h5write(path, "mixed", {1,"b"}))
print failure(() -> h5write(path, "function", x -> x))
print failure(() -> h5write(path, "", 1))
print failure(() -> h5writeatt(path, "absent", "a", 1))
print failure(() -> h5writeatt(path, "number", "a", object()))
print failure(() -> load(path, "absent"))
print failure(() -> save(path, "f", x -> x))
print load(path, "number")           % a failed save keeps the file
deletefile(path)
