import "part_library.q"
import "part_library.q"
print scaled(2), limit
function [] = main()
    print "main ", scaled(3)
end
print "top level first"
