print 1..3..10
print 1..1..10
print numel(1..0.5..10)
print numel(5..1), numel(0..-1)
for i = 0..-1
    print "never"
end
print 1..3..2
