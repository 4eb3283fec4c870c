% options: --loops always
% variables of an imported file are read by others after it has run
import "part_with_a_loop.q"
print last_in_part
