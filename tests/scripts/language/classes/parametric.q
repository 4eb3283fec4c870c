type stack[T] : mutable class
    items : vec[T]
    n : int
end
s = stack[scalar](items:=zeros(4), n:=0)
s.items[s.n] = 5
s.n += 1
print s.items, s.n, " ", type(s)
