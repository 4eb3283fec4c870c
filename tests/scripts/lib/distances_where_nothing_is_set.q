% devices: cpu
% The time of a distance transform is linear in the number of elements, even if no element near, or none at all, is set.
import "imanalysis.q"
tic()
d = bwdist(zeros(1,46400))
e = bwdist(zeros(1000,1000))
f = zeros(1000,1000)
f[500,500] = 1
f = bwdist(f)
print toc("") < 3000, " ", d[0,7], " ", e[999,0], " ", f[500,0], " ", f[0,500], " ", f[200,100]
% Near and far elements are both found.
function d = nearest(x)
    d = zeros(size(x))
    p = find(x)
    for [i,j] = 0..size(x,0..1)-1
        d[i,j] = sqrt(min((p[:,0]-i).^2 + (p[:,1]-j).^2))
    end
end
for dims = {[31,47],[1,60],[60,1]}
    for share = [0.3,0.02]
        x = float(rand(dims) < share)
        x[0,0] = 1
        print max(abs(bwdist(x) - nearest(x))) < 1e-6
    end
end
