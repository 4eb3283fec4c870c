t = 1, 2
t =+ 1
t =- 1
t = -1
t = - 1
t=-1
print t
y = 2*t
    - t
+ t
t*2
!t
t > 0 && t < 3
ok = false
ok || print_it()
twice = x -> (y = x; 2*y)
print y, twice(2)
function y = print_it()
    print "printed"
    y = true
end
