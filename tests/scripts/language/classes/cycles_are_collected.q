for k = 1..20000
    a = object()
    b = object()
    a.other = b
    b.other = a
    a.block = zeros(1000)
    a.f = () -> b
end
print "still here"
