% nested try, errors in handlers, finally values
function y = risky(n)
  if n > 2
    error("too big: " + n)
  end
  y = n
end
for i = 1..4
  try
    try
      print risky(i)
    catch e
      print "inner ", e
      if i == 4
        error("again")
      end
    end
  catch e2
    print "outer ", e2
  end
end
function y = deep(n)
  y = n == 0 ? risky(9) : deep(n-1)
end
try
  deep(50)
catch e
  print e
end
x = 1
try
  x = [1,2,3][7]
catch e
  x = 2
end
print x
% break and continue out of try
for i=0..5
  try
    if i == 1
      continue
    end
    if i == 3
      break
    end
    print i
  catch e
    print "no"
  end
end
function r = early()
  try
    r = 1
    return
  catch e
    r = 2
  end
  r = 3
end
print early()
