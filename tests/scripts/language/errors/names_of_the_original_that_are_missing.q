% exit: 1
print $subs(x=2, x+1)
$assert(1 == 1)
print $cf(1)
print $op(1+2, 0)
x : vec[uint8]'sat = [1,2]
