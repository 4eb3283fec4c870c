% The rounding tolerance at the end of a range is a small fraction of a step, however large its bounds are.
print numel(9007199254740992..9007199254740996), " ", numel(1e15..1e15+3), " ", numel(1e18..1e18+2), " ", numel(0..0.1..1)
print type(1e18..1e18+2), " ", type(16777216..16777218), " ", type(1..3)
turns = 0
for i = 9007199254740992..9007199254740996
    turns += 1
end
print turns
function n = counted(last)
    n = 0
    for k = 0..2
        for i = 9e15..last
            n += 1
        end
    end
end
print counted(9e15+4), " ", counted(9e15+4.5)
x = [1,2,3]
for at = {1e18..1e18+2, -1, 1e300}
    try
        print x[at]
    catch e
        print e
    end
end
k = 9007199254740993
try
    print k..k+2
catch e
    print e
end
