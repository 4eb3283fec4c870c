% Statistics along lines read float32 arrays without converting them first; the results equal the results of float64 copies.
x = mod(reshape((0..379)*37, [19,20]), 101)/7
z = copy(x)
z[2,3] = nan
z[4,5] = inf
cube = reshape(x, [4,19,5])
function y = same(a, b)
  y = isequal(size(a), size(b)) && all(a == b || (isnan(a) && isnan(b)))
end
for f = {var, std, median, mode, nanmean, nansum, nanmin, nanmax, nanmedian, nanvar, nanstd}
  for a = {x, z, cube, x[1..2..18,3..2..19], transpose(x), x[3,:], [2,1]}
    for dim = {null, 0, 1, 2}
      b = f(float64(a), dim)
      if !same(f(a, dim), isnumeric(b) && type(b, "scalar") ? b : cast_like(b, x))
        print "differs: ", f, " ", size(a), " ", dim
      endif
    end
  end
end
for dim = 0..1
  print same(quantile(x, [0.1,0.5,0.9], dim, "hazen"), cast_like(quantile(float64(x), [0.1,0.5,0.9], dim, "hazen"), x))
  print same(rank_positions(x, [0,3], dim), cast_like(rank_positions(float64(x), [0,3], dim), x))
end
print same(cumulative_trapezoid(x), cast_like(cumulative_trapezoid(float64(x)), x)), trapz(x[0,:]) == trapz(float64(x[0,:]))
[v, n] = mode([3,1,3,2,2])
print v, " ", n
% sizes as lists
print size(x, [1,0,2]), size(cube, 0..2..4), size(cube, [1,1]), size(reshape(cube, [-1,2])), size(zeros([2,3])), size(ones({2,3}))
for g = {() -> size(x, 0..9), () -> size(x, "a"), () -> size(x, [1.5]), () -> zeros([-1,2]), () -> zeros(1..9),
         () -> reshape(x, 1..12), () -> zeros([1+2i,3]), () -> zeros([]), () -> reshape(x, [3,-1])}
  try
    print size(g())
  catch e
    print e
  end
end
% sums and truth of few elements
print any([0,0,3]), all([1,0]), any(zeros(0)), sum([0.1,0.2]), prod([2,3,4]), max([2,7,1]), sum(x[1..2..5,1..3..7])
