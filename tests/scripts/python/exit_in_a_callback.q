% exit: 5
% needs: python
% devices: one
m = pyimport("helper")
print "before"
print m.outcome(() -> exit(5))
print "never"
