% options: --loops always --explain
% Entries of dictionaries whose keys are texts are compiled as fields.
d = {"count": 0, "a key": 1, "list": {1,2,3}, "in": {"x": 0.5}, "v": [1,2], "i": int(7), "b": true, "": 4}
x = 1..10
for i = 0..9
    d["count"] += x[i]
    d["a key"] = d["a key"]*2 - d[""]
    d["in"]["x"] += d["v"][0]
    d["v"][1] += i
    d["i"] += int(2)
    d[""] = d.count > 20 ? 1 : 0.5
end
print d
for i = 0..2
    d["i"] /= int(4)
    d["b"] += 1
end
print d, " ", type(d["i"]), " ", type(d["b"])
% a function that reads and sets an entry; the entry is read after the value is computed
function y = advance(d, k)
    d["n"] += k
    y = d.n
end
function d = totals(n)
    d = {"n": 1, "sum": 0}
    for i = 1..n
        d["sum"] += advance(d, i)
        d["n"] += advance(d, 1)
    end
end
print totals(5)
% two names, a failing iteration, a new key, a value of another type
e = d
for i = 1..3
    d["count"] += 1
    e["count"] *= 2
end
print d["count"]
try
    for i = 0..12
        d["count"] = i
        d["a key"] = x[i]
    end
catch error
    print error, " ", d["count"], " ", d["a key"]
end
for i = 0..2
    d["new"] = i
end
for i = 0..2
    d["b"] = i == 1 ? "text" : i
end
print d["new"], " ", d["b"]
% a dynamic class has entries, another one has not
type settings : dynamic class
    n : int = 1
    x : scalar = 0
end
type fixed : mutable class
    n : int = 1
end
s = settings()
f = fixed()
for i = 1..3
    s["n"] += 1.75
    s["x"] += 0.5
end
print s["n"], " ", s["x"]
for i = 1..2
    try
        f["n"] += 1
    catch error
        print error
    end
end
try
    for i = 1..2
        f["n"] = i
    end
catch error
    print error
end
% keys that are absent, and elements of other values
try
    for i = 1..2
        d["absent"] += i
    end
catch error
    print error
end
try
    for i = 1..2
        x["a"] = i
    end
catch error
    print error
end
% the derivative
function y = powers(x)
    d = {"y": 1}
    for i = 1..5
        d["y"] *= x
    end
    y = d["y"]
end
print powers(2), " ", grad(powers, 2)
% indices of an entry that is an array
for k in {"v", "in", "list"}
    try
        for i = 1..3
            d["v"][i] = i
        end
    catch error
        print error, " ", d.v
    end
    try
        for i = 1..3
            d.v[i] = i
        end
    catch error
        print error, " ", d.v
    end
end
