% Steps of heat flow, implicit in one direction after the other
import "../inputs.q"
function u = inputs(n)
    u = field(n, n)
end
function u = adi(u)
    n = size(u, 0)
    u = copy(u)
    v = zeros(n, n)
    p = zeros(n, n)
    q = zeros(n, n)
    a = -0.3
    b = 1.6
    d = -0.45
    e = 1.9
    for t = 1..4
        for i = 1..n-2
            v[0,i] = 1
            p[i,0] = 0
            q[i,0] = 1
            for j = 1..n-2
                p[i,j] = -a/(a*p[i,j-1] + b)
                q[i,j] = (-d*u[j,i-1] + (1 + 2*d)*u[j,i] - d*u[j,i+1] - a*q[i,j-1])/(a*p[i,j-1] + b)
            end
            v[n-1,i] = 1
            for j = n-2..-1..1
                v[j,i] = p[i,j]*v[j+1,i] + q[i,j]
            end
        end
        for i = 1..n-2
            u[i,0] = 1
            p[i,0] = 0
            q[i,0] = 1
            for j = 1..n-2
                p[i,j] = -d/(d*p[i,j-1] + e)
                q[i,j] = (-a*v[i-1,j] + (1 + 2*a)*v[i,j] - a*v[i+1,j] - d*q[i,j-1])/(d*p[i,j-1] + e)
            end
            u[i,n-1] = 1
            for j = n-2..-1..1
                u[i,j] = p[i,j]*u[i,j+1] + q[i,j]
            end
        end
    end
end
