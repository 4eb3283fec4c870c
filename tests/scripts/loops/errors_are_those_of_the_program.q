% exit: 1
% options: --loops always
% An index out of bounds: the elements before it are written, and the variables have their values at the error.
function [] = try_it(name, f)
    try
        f()
    catch e
        print name, ": ", e
    end
end

x = zeros(4)
function [] = beyond()
    last = -1
    y = zeros(4)
    try
        for i=0..9
            last = i
            y[i] = i + 1
        end
    catch e
        print e, "; last ", last, ", y ", y
    end
end
beyond()

function [] = read_before()
    y = [1,2,3]
    s = 0
    try
        for i=0..2
            s += y[i-1]
        end
    catch e
        print e, "; s ", s
    end
end
read_before()

function [] = two_dimensions()
    m = ones(3,4)
    s = 0
    try
        for [i,j]=0..[2,4]
            s += m[i,j]
        end
    catch e
        print e, "; s ", s, " at ", i, " ", j
    end
end
two_dimensions()

function [] = not_a_number()
    y = [1,2,3]
    try
        for i=0..2
            y[i/0*0] = 1
        end
    catch e
        print e
    end
end
not_a_number()

function [] = overflow()
    k = int(9.2e18)
    try
        for i=0..99
            k = k + int(i*1e15)
        end
    catch e
        print e, " at ", i
    end
end
overflow()
for i=0..3
    x[i+1] = i
end
