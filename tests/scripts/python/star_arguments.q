% needs: python
% f(*arguments, **names): apply takes them from cells, vectors, objects, and from Python sequences and dicts.
py = pyimport("builtins")
names = object()
names.sep = "-"
names.end = "!\n"
apply(py.print, {1, "a", true}, names)
setfield(names, "end", ".\n")
apply(py.print, {"b", "c"}, names)
print apply(py.max, py.list({3,9,4})), " ", apply(py.dict, null, names), " ", apply(py.divmod, [7,2])
print apply((x, y) -> x - y, py.tuple({10,3})), " ", apply((x, y) -> x - y, null, py.dict(y:=1, x:=5)), " ", apply(py.range, py.range(pyint(1), pyint(3)))
try
    apply((x, y) -> x, {1}, py.dict(nonsense:=1))
catch e
    print e
end
try
    apply(py.max, 3)
catch e
    print e
end
