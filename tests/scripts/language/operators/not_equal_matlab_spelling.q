x = 3
if x ~= 0
    print "not zero"
end
