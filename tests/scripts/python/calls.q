% needs: python
% devices: one
% Positional arguments, named arguments, only named arguments; a method in one step; calling a type makes an object.
py = pyimport("builtins")
m = pyimport("helper")
v = py.list({1,2})
py.print("v", v, sep:="=")
py.print("a", "b", end:="!", sep:="")
py.print()
print py.sorted(py.list({3,1,2}), reverse:=true)
print py.sorted(py.list({3,1,2}), key:=x->-x)
print pystr("a,b").split(",")
print py.tuple({1,2,3,4}), py.list({1.5,"x"})
print py.dict(a:=1, b:=2)
print m.echo(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)
c = py.complex(real:=1, imag:=2)
print c
T = py.type("T", py.tuple({py.dict}), py.dict(double:=(self, x) -> 2*x))
t = T()
print t.double(21)
