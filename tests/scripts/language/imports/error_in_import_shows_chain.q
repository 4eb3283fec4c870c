% exit: 1
import "cycle/fails.q"
print "never"
