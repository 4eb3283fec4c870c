% Bodies that attract each other.
function p = inputs()
    p = float64(reshape(mod((0..599)*7919, 1009)/1009, [200,3]))
end
function f = with_elements(p)
    n = size(p, 0)
    f = float64(zeros(n, 3))
    for i = 0..n-1
        for j = 0..n-1
            dx = p[j,0] - p[i,0]
            dy = p[j,1] - p[i,1]
            dz = p[j,2] - p[i,2]
            w = 1/((dx^2 + dy^2 + dz^2 + 0.01)^1.5)
            f[i,0] += w*dx
            f[i,1] += w*dy
            f[i,2] += w*dz
        end
    end
end
function f = with_vectors(p)
    n = size(p, 0)
    f = float64(zeros(n, 3))
    for i = 0..n-1
        for j = 0..n-1
            d = p[j,:] - p[i,:]
            w = 1/((sum(d.*d) + 0.01)^1.5)
            f[i,:] = f[i,:] + w*d
        end
    end
end
function f = with_sums(p)
    n = size(p, 0)
    f = float64(zeros(n, 3))
    for i = 0..n-1
        d = p - p[i,:]
        w = 1./((sum(d.*d, 1) + 0.01).^1.5)
        f[i,:] = sum(w.*d, 0)
    end
end
function f = with_variables(p)
    n = size(p, 0)
    f = float64(zeros(n, 3))
    for i = 0..n-1
        fx = 0
        fy = 0
        fz = 0
        for j = 0..n-1
            dx = p[j,0] - p[i,0]
            dy = p[j,1] - p[i,1]
            dz = p[j,2] - p[i,2]
            r = sqrt(dx*dx + dy*dy + dz*dz + 0.01)
            w = 1/(r*r*r)
            fx += w*dx
            fy += w*dy
            fz += w*dz
        end
        f[i,0..2] = [fx,fy,fz]
    end
end
