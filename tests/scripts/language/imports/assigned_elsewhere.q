% What a third file adds is that file's own, and seen by who imports it.
import "own/one.q"
import "own/two.q"
print scale, " ", scaled(1), " ", scaled_here(1)
scale = 7
print scale, " ", scaled(1), " ", scaled_here(1)
