% Reading, replacing and updating entries of dictionaries and characters of strings, in loops.
function d = count(items)
    d = dict()
    for k in items
        if iskey(d, k)
            d[k] += 1
        else
            d[k] = 1
        end
    end
end
print count({1, int(1), true, "1", 1.5, -1, {1,2}, {1,2}, 1.5, "1", -1, 0, -0.0, false})
function [] = check_keys(step, offset)
    d = dict()
    for i = 0..4999
        d[i*step + offset] = i
    end
    wrong = 0
    for i = 0..4999
        wrong += d[i*step + offset] != i
        wrong += iskey(d, i*step + offset + step/2)
    end
    for i = 0..2..4998
        wrong += pop(d, i*step + offset) != i
    end
    for i = 0..4999
        wrong += iskey(d, i*step + offset) != (mod(i, 2) == 1)
    end
    for i = 0..4999
        d[i*step + offset] = -i
    end
    for i = 0..4999
        wrong += d[i*step + offset] != -i
    end
    print numel(keys(d)), " ", wrong
end
for step in {1, -1, 0.5, 1024, 2^20, 2^32, -2^33, 2^40, 1/3}
    check_keys(step, 0)
    check_keys(step, -17)
end
function [] = updates()
    d = dict()
    d["n"] = 8
    d["s"] = "a"
    d["i"] = int(7)
    d["v"] = [1,2]
    d["c"] = 1+2j
    d["b"] = 2 > 1
    s = d["s"]
    v = d["v"]
    for i = 1..3
        d["n"] += i
        d["n"] -= 0.5
        d["n"] *= 3
        d["n"] /= 2
        d["s"] += "b"
        d["s"] += i
        d["i"] += int(i)
        d["v"] += i
        d["c"] *= 1j
        d["b"] += 1
    end
    print d, " ", s, " ", v
    for i = 1..3
        d["s"] += d["s"]
        d["n"] ^= 0.5
    end
    t = d["s"]
    d["s"] += "!"
    print t, " ", d["s"], " ", d["n"]
    try
        d["absent"] += 1
    catch e
        print e.line, " ", e
    end
    try
        d["s"] -= 1
    catch e
        print e.line, " ", e
    end
    try
        d[nan] = 1
    catch e
        print e.line, " ", e
    end
end
updates()
type settings : dynamic class
    n : int = 1
    name : string = "x"
end
function [] = of_class()
    o = settings()
    for i = 1..3
        o["n"] += 1.75
        o["name"] += "y"
        o["more"] = i
        o["more"] += 0.5
    end
    print o["n"], " ", o["name"], " ", o["more"], " ", type(o["n"])
    for k in {"n", "name"}
        try
            o[k] += {1}
        catch e
            print e.line, " ", e
        end
    end
end
of_class()
function [] = characters(s)
    t = ""
    for i = 0..strlen(s)-1
        if s[i] >= "a" && s[i] <= "z" && s[i] != "e"
            t += s[i] + s[int(i)]
        elseif s[i] == "e" || s[i] < "b"
            t += "-"
        end
    end
    print t
end
characters("The quick brown fox, and the end.")
try
    characters("naïve")
catch e
    print e
end
for i in {0, 2.0, int(1), 1.5, true, 9, -1}
    try
        print "abc"[i]
    catch e
        print e
    end
end
print "ab" < "b", "ab" < "abc", "" < "a", "b" >= "b", "ab" == "a" + "b", "x" != "y"
function y = shared(d)
    y = d["list"]
    d["list"] = d["list"]
    append(d["list"], 3)
    d["list"] = {}
end
print shared(dict({"list"}, {{1,2}}))
x = dict()
for i = 1..5
    x[{i, "a"}] = i
    x[{i, "a"}] += 10*i
end
print x
% Names of fields that are made at run time, shorter and longer than strings that the VM shares.
type sensor : mutable class
    t : scalar = 1
    temperature_in_kelvin : scalar = 2
end
function [] = fields(prefix)
    s = sensor()
    d = dict()
    for i = 1..2
        name = prefix + "in_" + "kelvin"
        setfield(s, name, getfield(s, name) + i)
        setfield(s, "" + "t", i)
        d[name] = i
        d[name] += getfield(d, name + name, 0.5)
        d.temperature_in_kelvin *= 2
    end
    print s.temperature_in_kelvin, " ", s.t, " ", d, " ", iskey(d, "temperature_in_kelvin"), iskey(s, name)
end
fields("temperature_")
function [] = long_keys(n)
    d = dict()
    s = ""
    for i = 1..n
        s += "abc"
        d[s] = i
        s += "d"
        d[s] = -i
        d[s] += 0.5
    end
    t = ""
    wrong = 0
    for i = 1..n
        t += "abc"
        wrong += d[t] != i
        t += "d"
        wrong += d[t] != 0.5-i
    end
    print numel(keys(d)), " ", wrong
end
long_keys(40)
% Rows that are joined in a loop.
function [] = rows(first, second)
    v = first
    for i = 1..3
        v = horzcat(v, i, second)
    end
    print v, " ", type(v), " ", size(v), " ", first
end
rows([], [0.5])
rows([7], [0.1,2^24])
rows([7], 2^24+1)
rows(float64([0.1]), 0.1)
rows(int([1,2]), [3])
rows([1,2] > 1, [1,0] > 0)
rows(1, [1+1j])
rows((1..4)[0..2..3], -1)
rows({}, "x")
% Entries that a loop over the keys removes.
function [] = drain(d)
    for i = 1..3
        for k in d
            break
        end
        pop(d, k)
        write(k, " ", keys(d), "; ")
        d[k] = i
    end
    print d
end
drain(dict({"a", {1,"b"}, 3}, {1, 2, 3}))
% The derivative of a loop that keeps its results in a dictionary.
function y = powers(x)
    d = dict()
    d[0] = 1
    for i = 1..5
        d[i] = d[i-1]*x
        d[i] += x
    end
    y = d[5]
end
print powers(2), " ", grad(powers, 2)
