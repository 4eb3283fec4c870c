% exit: 1
print $subs(x=2, x+1)
$assert(1 == 1)
print $cf(1)
print $op(1+2, 0)
x : vec[uint8]'sat = [1,2]
function y = add(a : int'checked, b : uint8'safe, c : scalar'const)
    y = a + b + c
end
s : scalar'mirror = 2
v : int'const = 3
