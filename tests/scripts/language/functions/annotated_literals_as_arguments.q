function y = poly(n, x)
    y = n + x
end
print poly(2:scalar, 3), " ", poly(2 : int, -3:scalar), " ", poly(1.5:scalar, x:=2:int)
print poly(2.7:int, 0)
try
    eval("x = [1,2,3]; print poly(2:3, 1)")
catch e
    print e
end
try
    eval("n = 2; print poly(1:n, 1)")
catch e
    print e
end
