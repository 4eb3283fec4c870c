% exit: 1
% There is no initial value.
import "own/one.q"
scales += 1
