a=1; b=2; print a+b;
alpha=1; beta=2,
print alpha, beta
;;
print "end"
