% A call of a variable that hides a built-in or library function says so.
function [] = local_variable()
    max = [1,2]
    try
        print max(max)
    catch e
        print e
    end
end
sum = 3
butter = {1,2}
local_variable()
try
    print sum([1,2])
catch e
    print e
end
try
    print butter(2, 0.5)
catch e
    print e
end
try
    print null([[1,2],[3,4]])
catch e
    print e
end
