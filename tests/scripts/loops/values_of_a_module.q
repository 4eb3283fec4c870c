% options: --loops always
% Other files read variables of an imported file after the import has run.
import "part_with_a_loop.q"
print last_in_part
