function y = at_default(x : vec, i)
    y = x[i]
end
function y = at_safe(x : vec'safe, i)
    y = x[i]
end
function y = at_mirror(x : vec'mirror, i)
    y = x[i]
end
function y = at_circular(x : vec'circular, i)
    y = x[i]
end
function y = at_clamped(x : vec'clamped, i)
    y = x[i]
end
x = [1,2,3]
for i = -4..6
    print i, ": ", at_safe(x,i), at_mirror(x,i), at_circular(x,i), at_clamped(x,i)
end
try
    at_default(x, 3)
catch e
    print e
end
