function y = f(x, n : int = 50, tau = 1, wnd = [3,3], mode : string = "exp")
    y = sprintf("%g %d %g %s %s", x, n, tau, wnd, mode)
end
print f(1)
print f(1, 2)
print f(1, mode:="lin")
print f(1, 2, wnd:=[5,5], tau:=0.5)
print f(x:=9)
