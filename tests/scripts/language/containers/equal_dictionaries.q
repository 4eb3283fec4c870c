% Dictionaries are compared by their keys and values, objects by identity.
type point : class
    x : scalar
end
d = {"a": 1, 2: [1,2,3], {3, 4}: {"b": "c"}}
e = {{3, 4}: {"b": "c"}, "a": 1, 2: [1,2,3]}
print d == e, isequal(d, e), d != e
e[2] = [1,2,4]
print d == e, isequal(d, e), d != e
print {"a": 1} == {"a": 1, "b": 2}, {"a": 1} == {"b": 1}, dict() == dict(), {"a": nan} == {"a": nan}
print {"a": 1} == {1}, {"a": 1} == 1, {{"a": 1}, 2} == {{"a": 1}, 2}
print isequal(point(x:=1), point(x:=1)), isequal(object(a:=1), object(a:=1))
d["self"] = d
e = copy(d)
print d == e
f = {"a": 1, 2: [1,2,3], {3, 4}: {"b": "c"}}
f["self"] = f
print d == f
% strings in lists and dictionaries are printed as they are written
print {"it's": 1, "say ""hi""": "x ""y"""}, {"a ""b"""}
