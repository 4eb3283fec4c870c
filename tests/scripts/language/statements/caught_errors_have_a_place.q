function [] = g()
  error("it broke")
end
try
  g()
catch e
  print e, "|", e.message, "|", e.file, "|", e.line, "|", e == "it broke", type(e), numel(e)
  e += "!"
  print e
end
try
  x = [1,2]
  print x[7]
catch e
  print e.line, " ", e.message
end
