% The ends of a slice are compared as ints of any size; an index outside is an error before anything is allocated.
function s = counted(x, a, b)
    s = 0
    for k = 0..200
        s += sum(x[int(a)..int(b)])
    end
end
function s = stepped(x, a, b)
    s = 0
    for k = 0..200
        s += numel(x[int(a)..-3..int(b)])
    end
end
function s = mixed(x, a, b)
    s = 0
    for k = 0..200
        s += numel(x[int(a)..b])
    end
end
function s = numbers(x, a, b)
    s = 0
    for k = 0..200
        s += sum(x[a..b])
    end
end
function r = outcome(f, x, a, b)
    try
        r = f(x, a, b)
    catch e
        r = e.message
    end
end

x = 0..9
for ends = {{1e300,5},{5,-1e300},{2,1e300},{-1e300,5},{1/0,5},{2,1/0},{2^53+2,5},{2^60,2^60+512},{2,2^53},{-2^40,5},{3,10},{10,12}}
    [a, b] = ends
    printf("%g..%g: %s; %s; %s; %s", a, b, string(outcome(counted, x, a, b)), string(outcome(stepped, x, a, b)),
        string(outcome(mixed, x, a, b)), string(outcome(numbers, x, a, b)))
end
print x[int(2^62)..2], x[int(-2^62)..-1..0], "ab"[int(2^62)..1]
x[int(1e300)..5] = 7
print x
try, print x[2..3..2^54], catch e, print e, end
try, print x[7..-2..-2^54], catch e, print e, end
try, print x[2..int(2^62)..int(2^62)], catch e, print e, end
try, x[2..2^54] = 0, catch e, print e, end
try, print "abc"[1..2^54], catch e, print e, end
