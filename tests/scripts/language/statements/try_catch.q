function [] = fail(n)
    if n == 0
        error("deep")
    end
    fail(n - 1)
end
try
    fail(3)
catch e
    print "caught ", e
end
try
    x = zeros(2)
    print x[5]
catch e
    print e
end
print "after"
