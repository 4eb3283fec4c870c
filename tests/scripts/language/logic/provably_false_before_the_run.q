% exit: 1
print "never printed"
function [] = f()
    assert(1 == 2, "arithmetic is broken")
end
