% A name may have any number of definitions.
type t0 : class
    a : int
end
type t1 : class
    a : int
end
type t2 : class
    a : int
end
type t3 : class
    a : int
end
type t4 : class
    a : int
end
type t5 : class
    a : int
end
type t6 : class
    a : int
end
type t7 : class
    a : int
end
type t8 : class
    a : int
end
type t9 : class
    a : int
end
type t10 : class
    a : int
end
type t11 : class
    a : int
end
type t12 : class
    a : int
end
type t13 : class
    a : int
end
type t14 : class
    a : int
end
type t15 : class
    a : int
end
type t16 : class
    a : int
end
type t17 : class
    a : int
end
type t18 : class
    a : int
end
type t19 : class
    a : int
end
function y = f(x : t0)
    y = 0
end
function y = f(x : t1)
    y = 1
end
function y = f(x : t2)
    y = 2
end
function y = f(x : t3)
    y = 3
end
function y = f(x : t4)
    y = 4
end
function y = f(x : t5)
    y = 5
end
function y = f(x : t6)
    y = 6
end
function y = f(x : t7)
    y = 7
end
function y = f(x : t8)
    y = 8
end
function y = f(x : t9)
    y = 9
end
function y = f(x : t10)
    y = 10
end
function y = f(x : t11)
    y = 11
end
function y = f(x : t12)
    y = 12
end
function y = f(x : t13)
    y = 13
end
function y = f(x : t14)
    y = 14
end
function y = f(x : t15)
    y = 15
end
function y = f(x : t16)
    y = 16
end
function y = f(x : t17)
    y = 17
end
function y = f(x : t18)
    y = 18
end
function y = f(x : t19)
    y = 19
end
for x = {t0(a:=1), t3(a:=1), t19(a:=1)}
    print f(x)
end
