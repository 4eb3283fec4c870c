% 'const forbids writing elements on the host, too. Assigning to the variable is allowed.
function [] = set(x : vec'const)
    x[0] = 1
end
function [] = add(x : mat'const)
    x[0,0] += 1
end
function y = read(x : vec'const)
    x = x + 1
    y = x[0]
end
function [] = tell(f, x)
    try
        f(x)
    catch e
        print e
    end
end
tell(set, [1,2])
tell(add, ones(2,2))
print read([1,2])
