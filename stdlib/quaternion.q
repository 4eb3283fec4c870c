% Module: quaternion.q
% Quaternions as vectors [x,y,z,w] with the real part last, as Warp, SciPy and glTF order them, in kernels and outside.
% A rotation is a quaternion of length 1; q and -q are the same rotation.

% Function: quat_identity
% The rotation by no angle, [0,0,0,1].
function q = __device__ quat_identity()
    q = [0.0,0,0,1]
end

% Function: quat_axis_angle
% The rotation by an angle in radians around an axis of any length, counter-clockwise if seen from its tip.
function q = __device__ quat_axis_angle(axis, angle)
    s = sin(angle/2)/sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
    q = [s*axis[0], s*axis[1], s*axis[2], cos(angle/2)]
end

% Function: quat_mul
% The product a b: the rotation b, then the rotation a.
function q = __device__ quat_mul(a, b)
    q = [a[3]*b[0] + a[0]*b[3] + a[1]*b[2] - a[2]*b[1], a[3]*b[1] - a[0]*b[2] + a[1]*b[3] + a[2]*b[0], _
         a[3]*b[2] + a[0]*b[1] - a[1]*b[0] + a[2]*b[3], a[3]*b[3] - a[0]*b[0] - a[1]*b[1] - a[2]*b[2]]
end

% Function: quat_conj, quat_norm, quat_normalize, quat_inverse
% The conjugate, the length, the quaternion of length 1 in the same direction, and the inverse of a quaternion.
function q = __device__ quat_conj(a)
    q = [-a[0], -a[1], -a[2], a[3]]
end

function y = __device__ quat_norm(a)
    y = sqrt(a[0]*a[0] + a[1]*a[1] + a[2]*a[2] + a[3]*a[3])
end

function q = __device__ quat_normalize(a)
    n = quat_norm(a)
    q = [a[0]/n, a[1]/n, a[2]/n, a[3]/n]
end

function q = __device__ quat_inverse(a)
    n = a[0]*a[0] + a[1]*a[1] + a[2]*a[2] + a[3]*a[3]
    q = [-a[0]/n, -a[1]/n, -a[2]/n, a[3]/n]
end

% Function: quat_rotate, quat_rotate_inverse
% The vector v, rotated by q of length 1, or by its inverse.
function y = __device__ quat_rotate(q, v)
    t = [2*(q[1]*v[2] - q[2]*v[1]), 2*(q[2]*v[0] - q[0]*v[2]), 2*(q[0]*v[1] - q[1]*v[0])]
    y = [v[0] + q[3]*t[0] + q[1]*t[2] - q[2]*t[1], v[1] + q[3]*t[1] + q[2]*t[0] - q[0]*t[2], _
         v[2] + q[3]*t[2] + q[0]*t[1] - q[1]*t[0]]
end

function y = __device__ quat_rotate_inverse(q, v)
    y = quat_rotate(quat_conj(q), v)
end

% Function: quat_to_matrix
% The matrix m with m*v = quat_rotate(q, v) for columns v; q has length 1.
function m = __device__ quat_to_matrix(q)
    m = [[1 - 2*(q[1]*q[1] + q[2]*q[2]), 2*(q[0]*q[1] - q[2]*q[3]), 2*(q[0]*q[2] + q[1]*q[3])], _
         [2*(q[0]*q[1] + q[2]*q[3]), 1 - 2*(q[0]*q[0] + q[2]*q[2]), 2*(q[1]*q[2] - q[0]*q[3])], _
         [2*(q[0]*q[2] - q[1]*q[3]), 2*(q[1]*q[2] + q[0]*q[3]), 1 - 2*(q[0]*q[0] + q[1]*q[1])]]
end

% Function: quat_slerp
% The rotation from a (t = 0) to b (t = 1) at constant speed, on the shorter way; near each other, a straight line.
function q = __device__ quat_slerp(a, b, t)
    d = a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
    way = d < 0 ? -1 : 1
    angle = acos(min(abs(d), 1))
    near = angle < 0.001
    s = near ? 1 : sin(angle)
    f = near ? 1 - t : sin((1-t)*angle)/s
    g = way*(near ? t : sin(t*angle)/s)
    q = quat_normalize([f*a[0] + g*b[0], f*a[1] + g*b[1], f*a[2] + g*b[2], f*a[3] + g*b[3]])
end
