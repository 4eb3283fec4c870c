% exit: 1
import "named_part.q" as g
import "named_part.q" as g
import "named_inner.q" as g
