import "../inputs.q"
function a = inputs(n)
    a = field(n, n)
end
function y = trace_tanh(a)
    s = 0
    for i = 0..size(a, 0)-1
        s += tanh(a[i,i])
    end
    y = a + s
end
