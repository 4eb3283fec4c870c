% The gradient of unique belongs to the first one of equal elements.
for x = {[3,1,2,1,3,3], [1,nan,2,nan,1,0,-0,inf,inf], [5], zeros(0), [[1,2],[2,1]], float64([1,1,1]), [1+2i,1,1+2i,3]}
  try
    print numel(unique(x)), " ", grad(a -> sum(abs(unique(a)).*(1+(0..numel(unique(x))-1))), x)
  catch e
    print e
  end
end
print grad(a -> unique(a)[0], 3.5)
