% exit: 1
print 'abc'
