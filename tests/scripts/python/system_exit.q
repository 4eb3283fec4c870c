% exit: 7
% needs: python
% devices: one
m = pyimport("helper")
sys = pyimport("sys")
print "before"
m.call(() -> sys.exit(7))
print "never"
