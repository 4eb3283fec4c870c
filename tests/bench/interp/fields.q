type counter : mutable class
    n : scalar
end
function [] = bump(self : counter, d)
    self.n += d
end
function [] = main()
    c = counter(n:=0)
    for i = 1..5000000
        c.bump(2)
    end
    print c.n
end
