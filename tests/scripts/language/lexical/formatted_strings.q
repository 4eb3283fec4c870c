% exit: 1
x = 3
y = 2.71828
m = [[1,2],[3,4]]
s = "te""xt"
print f"x = {x}, y = {y:.3f}"
print f"{x}{y}{s}", "|", f"", "|", f"plain", "|", strlen(f"{x}")
print f"a ""quoted"" {{braces}} %d 100% C:\new {{{x}}}"
print f"{m}|{m:.1f}|{ {1,"a"} }|{null}|{2+3j}|{object(a := 1)}|{x > 2}|{x:c}|{"ü"}"
print f"{x > 2 ? "yes" : "no"}|{x > 5 ? 1 : 2:5d}|{(x > 5 ? 1 : 2):-5d}|{x}:{x}"
print f"{m[0,:]} {sum(m[:,1]):g} {f"inner {x:03d}"} {s:10s}|{s:-10s}|{255:x} {y:+.2e} {y:8.3f} {int(7):u}"
function z = g(a, n = 3)
    z = f"<{a:03d} {n}>"
end
print g(4), g(a := 5)
text = ""
for i = 0..2
    text += f"i = {i}, {i^2:5.1f}; "
end
print text
h = a -> f"{a} and {a*2}"
print h(5)
f = 3
print f, f + 1, f"{f}"
d = dict()
d[f"key {x}"] = {f"{x}", f"b"}
print d
match f"{x}" with
| "3" -> print "three"
| _ -> print "other"
end
try
    print f"ab {3} {s:d}"
catch e
    print e.line, " ", e
end
try
    error(f"bad value {x:d}")
catch e
    print e
end
print f"{x:1d}{x:2d}{x:3d}{x:4d}{x:5d}{x:6d}{x:7d}{x:8d}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}"
function [] = __kernel__ k(x, pos : int)
    print f"a plain text"
end
parallel_do(1, m, k)
function [] = __kernel__ with_value(x, pos : int)
    print f"{x[pos]}"
end
try
    parallel_do(1, [1], with_value)
catch e
    print e
end
i = [4,5]
print f"{i[7]}"
