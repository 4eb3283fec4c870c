% error and assert: one text, a format with its values, or several values
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
x = 5
show(() -> error("no area of ", x))
show(() -> error("no area of %d: %s", x, "negative"))
show(() -> error("%d of %d", x))
show(() -> error("no area of %d", x, " extra"))
show(() -> error(x, " is 50% wrong ", [1,2]))
show(() -> error("100% as it is"))
show(() -> error(7))
show(() -> assert(x > 7, "x is ", x))
show(() -> assert(x > 7, "x is %05d", x))
show(() -> assert(x > 7, "x is 100%"))
show(() -> assert(x > 7))
for i = 0..3
    try
        if i == 2
            error("turn ", i, " fails")
        endif
    catch e
        print e
    end
end
show(() -> error("area:name", "no area of %d", 3))
show(() -> error("area:name", "no area of ", x))
show(() -> assert(false, "area:name", "%d of %d", 1, 2))
show(() -> error("see http://a.b", " of ", 3))
