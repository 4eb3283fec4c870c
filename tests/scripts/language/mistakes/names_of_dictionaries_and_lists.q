% Names of other languages for functions of dictionaries, lists and strings lead to the function here.
function [] = try_it(f)
    try
        f()
    catch e
        print e.line, " ", e
    end
end
d = dict({"a", "count"}, {1, 2})
c = {1, "a"}
try_it(() -> d.remove("a"))
try_it(() -> c.remove(0))
try_it(() -> d.delete("a"))
try_it(() -> d.get("a", 0))
try_it(() -> d.contains("a"))
try_it(() -> "text".contains("t"))
try_it(() -> d.len())
try_it(() -> d.items())
try_it(() -> d.update(d))
try_it(() -> d.clear())
try_it(() -> c.push(3))
try_it(() -> c.add(3))
try_it(() -> c.extend(c))
try_it(() -> d.append("a"))
try_it(() -> "text".append("a"))
try_it(() -> [1,2].append(3))
try_it(() -> d.format("a"))
try_it(() -> d.cuont("a"))
try_it(() -> "text".trim())
