function y = area(r : scalar)
    y = "circle"
end
function y = area(w : scalar, h : scalar)
    y = "rectangle"
end
function y = area(s : string)
    y = "named " + s
end
function y = area(v : vec)
    y = "vector"
end
print area(1), " ", area(1,2), " ", area("x"), " ", area([1,2])
function y = pick(x)
    y = "any"
end
function y = pick(x : int)
    y = "int"
end
print pick(int(3)), " ", pick("s")
