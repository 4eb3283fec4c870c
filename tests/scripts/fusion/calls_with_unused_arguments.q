% options: --loops always
% A function that is made part of an expression still evaluates arguments and variables that its value does not need.
function y = unused(x, u)
    y = x.*2 + 1
end
function y = left_out(x)
    t = x[0..9]
    y = x.*2 + 1
end
function [] = outcome(f)
    try
        print f()
    catch e
        print e
    end
end
function [] = call_all(x, flag)
    if flag
        u = 3
    end
    outcome(() -> unused(x, x[100]).*2)
    outcome(() -> unused(x, x[0..9]).*2)
    outcome(() -> unused(x, x + [1,2,3]).*2)
    outcome(() -> unused(x, "abc").*2)
    outcome(() -> left_out(x).*2)
    outcome(() -> unused(x, 7).*2)
    try
        y = unused(x, u).*2
        print y
    catch e
        print e
    end
end
call_all([1.0,2], false)
