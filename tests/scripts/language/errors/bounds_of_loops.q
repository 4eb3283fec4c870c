% A loop bound that is not a number is an error that says so, in compiled and interpreted loops.
function [] = count(last)
    for i = 0..last
        print i
    end
end
try
    count(nan)
catch e
    print e
end
try
    for i = 0..0..3
    end
catch e
    print e
end
