% A loop may not give the number of an object, which is an argument that no variable holds yet, to another object.
% options: --loops always
type body : class
    x : float64
end
function r = m4(k)
    a = body(x:=k)
    b = body(x:=k)
    c = body(x:=k)
    d = body(x:=k)
    r = a.x + b.x + c.x + d.x
end
function r = m16(k); r = m4(k) + m4(k) + m4(k) + m4(k); end
function r = m64(k); r = m16(k) + m16(k) + m16(k) + m16(k); end
function r = first(p, v); r = p.x; end
s = 0
for k = 1..10
    s += first(body(x:=1), m64(7)+m64(7)+m64(7)+m64(7))
end
print s
