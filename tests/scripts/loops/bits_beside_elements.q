% options: --loops always
% A bit operator with a number of more bits than the elements is an error for elements as for arrays.
function [] = f(z, v, k)
  for i=0..2
   match k with
   | 0 -> z[i] |= v
   | 1 -> z[i] &= v
   | _ -> z[i] ~= v
   end
  end
end
for T = {uint8, int8, uint16, int16, uint32, int32, x -> x}
for v = {255, 256, -1, -129, 65535, -32769, 4294967295, 4294967296, -2147483649, 1.5}
for k=0..2
  z = T([5,0,100])
  try
    f(z, v, k)
  catch e
    print e
  end
  print type(z), " ", z
end
end
end
function [] = g(z, v)
  s = int(v)
  for i=0..2
   z[i] ~= s
   z[i] ~= shl(s,3)
   s += 1000
  end
end
for T = {uint8, int8, uint16, int16, uint32, int32}
  z = T([5,0,100])
  try
    g(z, 3)
  catch e
    print e
  end
  print z
end
