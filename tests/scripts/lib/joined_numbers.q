% Numbers are joined along any dimension to what arrays of one element give.
for n = 1..3
 c = {}
 for i=1..n
  append(c, i*1.5)
 end
 for d=0..3
  x = cat(d, ...c)
  print type(x), size(x), x
 end
 print horzcat(...c), vertcat(...c), type(vertcat(...c)), size(horzcat(...c)), size(vertcat(...c))
end
print horzcat(1,true), horzcat(1,int(2)), type(horzcat(1,int(2)))
print vertcat(nan,-0.0,1e300)
