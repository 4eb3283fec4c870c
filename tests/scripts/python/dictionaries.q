% needs: python numpy
% devices: one
% A dictionary is passed to Python as a dict, an object() as a value with attributes.
py = pyimport("builtins")
json = pyimport("json")
d = {"a": 1, "b": {"c": "x", "d": null}, 3: true, 0.5: int(2), {1,"k"}: {1,2}}
print py.type(d), py.type(object()), py.type(dict({"a"}, {1})), py.type(dict())
print py.repr(d)
print json.dumps({"a": 1, "b": {"c": "x", "d": null, "list": py.list({1,2})}, 3: int(2)}), " ", json.dumps(dict())
% also in cells, as an item and an attribute, as the result of a function, by to_py and as a named argument
print py.repr({{"a": 1}, object()})
l = py.dict()
l["d"] = {"x": 1}
o = pyimport("types").SimpleNamespace()
o.d = {"y": 2}
print l, " ", o, " ", py.repr(py.list(py.map(x -> {"x": x}, {1,2}))), " ", d.to_py()["b"], " ", py.dict(z := {"q": 1})
% the dict is a copy, an object is the same
function p = shared(x)
    p = pyimport("operator").setitem
    p(x, "new", 5)
end
o = object()
shared(d)
shared(o)
print iskey(d, "new"), iskey(o, "new"), " ", o
% there and back
r = json.loads("{""a"": {""b"": [1,2,3]}, ""c"": 5}")
r["c"] += 2
for k in r
    write(k, " ")
end
print r["a"]["b"][1], " ", r["c"], " ", r.get("z", 3), " ", from_py(r), " ", py.type(from_py(r)), " ", py.repr(jsondecode("{""a"": {}}"))
% values that contain themselves
c = {1,"a"}
append(c, c)
d["self"] = d
for x in {{"x": c}, {"x": d}, {"x": object(a := d)}}
    try
        print py.len(py.repr(x)) > 0
    catch e
        print e
    end
end
