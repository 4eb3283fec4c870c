print 1/0, " ", -1/0, " ", 0/0
print isinf(1/0), isnan(0/0), isfinite(3)
