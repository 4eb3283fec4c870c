function [] = f()
    n = 1
    v = [1,2]
    set_n = () -> n = 5
    set_n()
    print n
    set_v = () -> (v[:] = 9;)
    set_v()
    print v
end
f()
