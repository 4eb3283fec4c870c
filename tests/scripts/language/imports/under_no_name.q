% exit: 1
as = 1
print as
import "named_part.q" as 3
