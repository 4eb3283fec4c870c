print 0..2
print 0.5..2.5
print 0..0.25..1
n = 3
print n-1..-1..0
print -1..1
