% griddata reproduces a linear function on turned lattices, whose points lie on lines.
import "scattered.q"
function p = turned(n, angle)
    k = 0..n*n-1
    u = float64(floor(k/n))
    v = float64(mod(k, n))
    p = [transpose(u*cos(angle) - v*sin(angle)), transpose(u*sin(angle) + v*cos(angle))]
    p = reshape(transpose(reshape(p, [2,n*n])), [n*n,2])
end
wrong = 0
for n = {2, 5, 17, 30}
    for angle = {0, 0.1, 0.3, pi/4, 1, 2.5}
        p = turned(n, float64(angle))
        m = 500
        k = float64(0..m-1)
        a = mod(k*0.051713, 1)*(n-1)*0.98 + 0.01*(n-1)
        b = mod(k*0.739171, 1)*(n-1)*0.98 + 0.01*(n-1)
        q = zeros_like(p, m, 2)
        q[:,0] = transpose(a*cos(float64(angle)) - b*sin(float64(angle)))
        q[:,1] = transpose(a*sin(float64(angle)) + b*cos(float64(angle)))
        z = griddata(p, 2*p[:,0] + 3*p[:,1] + 10, q)
        wrong += sum(!(abs(z - transpose(2*q[:,0] + 3*q[:,1] + 10)) < 1e-9))
    end
end
print wrong, " positions are wrong"
p = float64([[0,0],[1,0],[0,1],[1,1]])
print griddata(p, [1,2,3,4], [[nan,0.5],[inf,0],[2,2],[0.5,0.5]], "linear", 0)
print griddata(p, [1,2,3,4], [[nan,0.5],[inf,0],[2,2],[0.5,0.6]], "nearest")
