% Solves n tridiagonal systems at once, row by row
import "../inputs.q"
function b = inputs(n)
    b = field(n, n)
end
function x = tridiagonal(b)
    n = size(b, 0)
    c = zeros(n, n)
    x = zeros(n, n)
    c[0,:] = -0.25
    x[0,:] = b[0,:]/4
    for i = 1..n-1
        c[i,:] = -1./(4 + c[i-1,:])
        x[i,:] = (b[i,:] + x[i-1,:])./(4 + c[i-1,:])
    end
    for i = n-2..-1..0
        x[i,:] = x[i,:] - c[i,:].*x[i+1,:]
    end
end
