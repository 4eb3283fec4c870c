import "../inputs.q"
function u = inputs(n)
    u = field(n, n)
end
function u = wave(u)
    n = size(u, 0)
    u = copy(u)
    before = copy(u)
    for t = 1..20
        next = copy(u)
        next[1..n-2,1..n-2] = 2*u[1..n-2,1..n-2] - before[1..n-2,1..n-2] + 0.1*(u[0..n-3,1..n-2] + u[2..n-1,1..n-2] + u[1..n-2,0..n-3] + u[1..n-2,2..n-1] - 4*u[1..n-2,1..n-2])
        before = u
        u = next
    end
end
