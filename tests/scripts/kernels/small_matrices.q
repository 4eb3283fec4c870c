% Linear algebra of small matrices in kernels, on every device.
function [] = __kernel__ run(x : vec, y : vec, pos : int)
    m = [[x[0]+5,x[1]],[x[1],x[2]+pos]]
    y[0] = det(m)
    y[1..4] = reshape(inv(m), [1,4])
    [v, d] = symeig(m)
    y[5..6] = d
    y[7..9] = sort([x[2],x[0],x[1]])
    y[10..11] = sum(m, 0)
    y[12..14] = cross(x[0..2], x[3..5])
end
x = [1,2,3,4,5,6.5]
y = zeros(15)
parallel_do(1, x, y, run)
m = [[6,2],[2,3]]
[v, d] = symeig(m)
expected = horzcat(det(m), reshape(inv(m), [1,4]), d, [1,2,3], sum(m, 0), cross([1,2,3], [4,5,6.5]))
print max(abs(y - expected)) < 1e-4

function [] = __kernel__ systems(x : vec, y : vec, pos : int)
    m = [[x[0]+5,x[1]],[x[1],x[2]+pos]]
    [L, U, p] = lu([[x[0],x[1]],[x[2],x[3]]])
    y[0..1] = sort(real(eig(m)))
    y[2..5] = reshape(pinv(m), [1,4])
    y[6] = rank(m) + 10*rank([[x[0],x[1]],[x[1],x[3]]])
    y[7..8] = p
    y[9] = L[1,0]
    y[10] = gcd(int(12), int(x[3])) + lcm(4, x[4])
end
y = zeros(11)
parallel_do(1, x, y, systems)
print max(abs(y - horzcat(d, reshape(inv(m), [1,4]), [12,1,0,1/3,24]))) < 1e-4
