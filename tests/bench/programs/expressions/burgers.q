import "../inputs.q"
function u = inputs(n)
    u = 1 + pattern(n, 37, 1021)
end
function u = burgers(u)
    u = copy(u)
    n = numel(u)
    for t = 1..100
        u[1..n-2] = u[1..n-2] - 0.1*u[1..n-2].*(u[1..n-2] - u[0..n-3]) + 0.2*(u[2..n-1] - 2*u[1..n-2] + u[0..n-3])
        u[0] = u[n-2]
        u[n-1] = u[1]
    end
end
