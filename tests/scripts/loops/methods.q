% options: --loops always --explain
% o.f(x) in a loop is the function f with o as its first argument.
type Acc : mutable class
    s : scalar
    n : int
    w : vec
end
function r = plus(self : Acc, x)
    r = self.s + x*self.w[1]
end
function [] = add(self : Acc, x)
    self.s += x
    self.n = self.n + 1
end
function r = twice(self, x)
    r = self.plus(x) + self.plus(-x)/2
end
type Other : class
    s : scalar
end
function r = scaled(self : Other, x)
    r = self.s*x
end
function r = kind(self : Acc)
    r = 1
end
function r = kind(self : Other)
    r = 2
end
function y = reads(o, x)
    y = zeros(numel(x))
    for i=0..numel(x)-1
        y[i] = o.plus(x[i]) + o.twice(x[i])
    end
end
function [] = sets(o, x)
    for i=0..numel(x)-1
        o.add(x[i])
    end
end
function y = either(o, x)
    y = zeros(numel(x))
    for i=0..numel(x)-1
        y[i] = o.scaled(x[i])
    end
end
function y = kinds(o)
    y = 0
    for i=0..3
        y = y*2 + o.kind()
    end
end
function y = fields(o)
    y = 0
    for i=0..3
        y = y*2 + o.f(i)
    end
end
type WithF : class
    f : [?? -> ??]
end
x = [1,2,3.5]
a = Acc(s:=3, n:=int(0), w:=[1,2,3])
print reads(a, x)
sets(a, x)
print a.s, " ", a.n
print either(Other(s:=2), x)
try
    print either(a, x)
catch e
    print e
end
print kinds(a), " ", kinds(Other(s:=1))
g = i -> 3*i
print fields(WithF(f:=g))
