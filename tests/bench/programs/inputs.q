% What the programs share: inputs, made as peers.py makes them.
import "../kernels/measure.q"

% n x m numbers from 0 to below 1 in scrambled order; exact where n*m*a is below 2^31.
function x = field(n : int, m : int, a : int = 37)
    x = reshape(pattern(n*m, a, 1021), [n,m])
end

% n integers from 0 to m-1, as pattern orders them.
function x = integers(n : int, m : int, a : int = 37)
    x = int(floor(m*pattern(n, a, 1021)))
end
