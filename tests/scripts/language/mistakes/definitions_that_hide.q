% Definitions that no call distinguishes: a warning without --check, too.
function y = f(x : vec'safe)
    y = 1
end
function y = f(x : vec'mirror)
    y = 2
end
function y = g(x : mat)
    y = 1
end
function y = g(x : vec)
    y = 2
end
print f([1,2]), " ", g([1,2]), " ", g(ones(2,2))
