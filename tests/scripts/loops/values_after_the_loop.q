% options: --loops always
% After a loop a variable has its value from the last iteration, on every path that reads it.
function y = through_a_closure()
    function z = inner()
        z = s
    end
    s = 0
    for i=0..9
        s = s*0.5 + i
    end
    y = inner()
end
print through_a_closure()

function [] = in_a_handler()
    y = [1,2,3]
    try
        for i=0..9
            s = i
            y[i] = 2
        end
        s = 0
    catch e
        print s
    end
end
in_a_handler()

function [] = behind_a_break()
    k = 0
    while true
        for i=0..9
            s = i + k
        end
        k += 1
        if k > 2
            break
        end
        s = 0
    end
    print s
end
behind_a_break()

function s = behind_a_return(c)
    for i=0..9
        s = i
    end
    if c
        return
    end
    s = 0
end
print behind_a_return(true)

function [] = in_the_next_run_of_the_loop()
    x = zeros(3)
    s = 0
    for k=0..2
        for i=0..2
            s = s*0.5 + i
            x[i] = s
        end
        print k
    end
    print x
end
in_the_next_run_of_the_loop()

function [] = behind_a_continue()
    x = zeros(100)
    t = -1
    for i=0..99
        if mod(i,2) == 1
            continue
        end
        t = i
        x[i] = t
    end
    print t
end
behind_a_continue()

function y = without_a_result(x)
    if x < 0
        return
    end
    y = x
end
function [] = asks()
    s = 0
    try
        for i=0..10
            s = s*0.5 + without_a_result(5-i)
        end
    catch e
        print e, "; ", s
    end
end
asks()
