% exit: 1
import "named_part.q" as g
print g.aera(2)
print g.hidden(2)
print hidden(2)
print area(2)
print g
g.scale = 3
g.scale += 3
print g.color.blue
