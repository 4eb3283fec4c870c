% Rotations by quaternion.q in a kernel and outside, against matrices and against numbers of scipy.spatial.transform.
% tolerance: 1e-5
import "quaternion.q"

function [] = __kernel__ turn(v : mat, y : mat, pos : int)
    p = quat_axis_angle([1,2,3], 0.7)
    q = quat_axis_angle([0,1,-1], -1.1)
    x = [v[pos,0],v[pos,1],v[pos,2]]
    y[pos,0..2] = quat_rotate(quat_mul(p,q), x)
    y[pos,3..5] = transpose(quat_to_matrix(p)*quat_to_matrix(q)*transpose(x))
    y[pos,6..8] = quat_rotate_inverse(p, quat_rotate(p, x))
    y[pos,9..11] = quat_rotate(quat_slerp(p, q, 0.25), x)
    y[pos,12..15] = quat_mul(quat_inverse(2*p), 2*p)
end
v = [[1,0,0],[0,1,0],[1,2,-3]]
y = zeros(3,16)
parallel_do(3, v, y, turn)
rotated = [[0.29897336,0.72886873,0.61592638],[-0.95140816,0.27755026,0.13337306],[-1.38262573,3.16158637,-1.44662286]]
slerped = [[0.80528734,0.59161241,-0.03882073],[-0.57935435,0.79912968,0.16043785],[-0.73124082,2.5099946,-2.67679173]]
print max(abs(y[:,0..2] - rotated)) < 1e-5, max(abs(y[:,3..5] - rotated)) < 1e-5, max(abs(y[:,6..8] - v)) < 1e-5, _
      max(abs(y[:,9..11] - slerped)) < 1e-5, max(abs(y[:,12..15] - [0,0,0,1])) < 1e-5
p = quat_axis_angle([1,2,3], 0.7)
print max(abs(quat_rotate(quat_axis_angle([0,0,1], pi/2), [1,0,0]) - [0,1,0])) < 1e-6
print max(abs(quat_mul(p, quat_conj(p)) - quat_identity())) < 1e-6, abs(quat_norm(quat_normalize([1,2,3,4])) - 1) < 1e-6
print max(abs(quat_slerp(quat_identity(), -p, 1) - p)) < 1e-6
turned = grad(a -> sum(quat_rotate(quat_axis_angle([0,0,1], a), [1,0,0])), 0.5)
print abs(turned - (cos(0.5) - sin(0.5))) < 1e-6
