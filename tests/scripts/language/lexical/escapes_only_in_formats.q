print "a\tb"
print sprintf("a\tb")
printf("one\ntwo")
