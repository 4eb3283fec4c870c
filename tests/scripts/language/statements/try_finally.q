% exit: 1
function y = f(k)
    y = 0
    try
        if k == 0
            error("zero")
        elseif k == 1
            y = 1
            return
        end
        y = 2
    catch e
        y = 3
        if k == 0
            return
        end
    finally
        print "finally ", k, " ", y
        y += 10
    end
    print "after ", k
end
print f(0)
print f(1)
print f(2)
for i = 0..4
    try
        try
            if i == 1
                continue
            elseif i == 3
                break
            end
            x = [1,2]
            print x[i]
        finally
            print "inner ", i
        end
    catch e
        print "caught ", e, " line ", e.line
    finally
        print "outer ", i
    end
end
function [] = fails(n)
    if n == 0
        x = zeros(2)
        print x[5]
    end
    fails(n-1)
end
function [] = middle()
    try
        fails(2)
    finally
        print "cleanup"
    end
end
try
    middle()
catch e
    print e.message, " ", e.line
    for s in e.stack
        [folder, name, extension] = pathsplit(s.file)
        print s.name, " ", name, extension, " ", s.line
    end
end
% an error in finally replaces the first
try
    try
        error("first")
    finally
        error("second")
    end
catch e
    print e
end
finally = 3
print finally
try; print "one"; finally; print "two"; end
function y = g()
    y = 1
    try
        for i = 0..3
            try
                if i == 2
                    return
                end
            finally
                y += 100
            end
        end
    finally
        y += 1000
    end
end
print g()
h = () -> (try; y = 5; finally; print "lambda"; end; y)
print h()
function y = deep(n)
    y = 0
    try
        if n == 0
            error("deep")
        end
        try
            y = deep(n-1)
        finally
            y += 1
        end
    catch e
        y = n == 2 ? 50 : error(e)
    finally
        y += 1
    end
end
print deep(3)
while 1
    try
        break
    finally
        print "left"
    end
end
y = zeros(10000)
for i = 0..9999
    try
        y[i] = i
    finally
        y[i] += 1
    end
end
print y[9999]
function [] = work(x)
    try
        try
            print x[7]
        finally
            print "done"
        end
    finally
        print "done 2"
    end
end
function [] = outer()
    try
        try
            work([1,2])
        finally
            print "outer"
        end
    catch e
        print numel(e.stack), " ", e.stack[0].name, " ", e.stack[0].line, " ", e.stack[1].line, " ", e.stack[2].line
        error("again: " + e)
    end
end
outer()
