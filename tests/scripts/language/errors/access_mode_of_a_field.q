% exit: 1
% An access mode belongs to a variable.  An access mode without effect is an error.
type box : class
    v : vec'clamped
end
type border : mat'mirror
function y = f(x : [vec'safe|mat], g : [(vec'safe) -> scalar])
    y = g(x)
end
c : cell[vec'circular] = {}
y : [vec|mat]'safe = [1,2]
d = vec[vec'unchecked](2)
