% An addition by a third file belongs to that file, and is visible to files that import it.
import "own/one.q"
import "own/two.q"
print scale, " ", scaled(1), " ", scaled_here(1)
scale = 7
print scale, " ", scaled(1), " ", scaled_here(1)
