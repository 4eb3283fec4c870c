% {key : value} makes a dictionary; the keys have all types that d[key] takes.
d = {"a": 1, "b": [1,2], 3: "x", {1,2}: {"nested": true}}
print d
print d.a, " ", d["b"][1], " ", d[3], " ", d[{1,2}].nested
more = {
    "choice": 1 > 0 ? 2 : 3,
    "list": {1,2,3},
    "function": x -> x+1
}
print more.choice, " ", more.list, " ", more.function(3)
for key in {"x": 1, "y": 2}
    write(key, " ")
end
print keys({"twice": 1, "twice": 2}), {"twice": 1, "twice": 2}.twice, {}
function [] = attempt(text)
    try
        eval(text)
    catch e
        print e
    end
end
for text = {"{1, 2: 3}", "{1: 2, 3}", "{1: 2, 3: }", "{1: 2", "{1: 2,}", "[1: 2]", "{nan: 1}", "{[1,2]: 3}"}
    attempt(text)
end

% Derivatives pass through the fields.
print grad(x -> {"v": x*x, 2: x}["v"], 3), " ", grad(x -> object(v := x*x).v, 3), " ", grad(x -> struct("v", x*x).v, 3)
% the number of entries
d = dict()
print isempty(d), " ", numel(d)
d["a"] = 1
d[2] = 3
print isempty(d), " ", numel(d)
pop(d, "a")
print numel(d), " ", numel({1: 2, "1": 3, "b": 4}), " ", numel(object())
