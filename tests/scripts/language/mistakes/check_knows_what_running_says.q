% exit: 1
% options: --check
function y = f(a, b = 1)
    y = a+b
end
function y = g(a : matt)
    y = f()
    z : vecc = 3
    y = f(1,2,3) + f(1, c:=2) + f(1, a:=1) + f(1, b:=2)
    h = (x : imagee) -> sin()
end
function y = first[T](x : vec[T], n : cube{4})
    y = x[0]
end
function y = o(x : int)
    y = 1
end
function y = o(x : int, z : string)
    y = 1
end
print o(1,2,3), o(1), sum([1], dimm:=0), zeros(1,2,3,4)
