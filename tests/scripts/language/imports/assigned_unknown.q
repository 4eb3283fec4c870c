% exit: 1
% Nothing to begin with.
import "own/one.q"
scales += 1
