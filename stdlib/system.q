% Module: system.q
% The eight rules that make conditional assignment of matrices part of the language: A[A < 0] = 0.
% They do what indexing with a mask does; if the VM supports masks itself the result is the same, inf and nan included.

type matrix_type : [vec|mat|cube|cvec|cmat|ccube]

% Function: assign_where
% Gives c to the elements of x at which mask is true.
%
% :function [] = assign_where(x, mask, c)
function [] = assign_where(x, mask, c)
    x[mask] = c
end

reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a > b] = c) = assign_where(x, a > b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a < b] = c) = assign_where(x, a < b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a >= b] = c) = assign_where(x, a >= b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a <= b] = c) = assign_where(x, a <= b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a == b] = c) = assign_where(x, a == b, c)
reduction (x : matrix_type, a : matrix_type, b, c) -> (x[a != b] = c) = assign_where(x, a != b, c)
reduction (x : matrix_type, a : matrix_type, b : matrix_type, c) -> (x[a && b] = c) = assign_where(x, a && b, c)
reduction (x : matrix_type, a : matrix_type, b : matrix_type, c) -> (x[a || b] = c) = assign_where(x, a || b, c)
