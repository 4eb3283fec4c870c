% part
function [] = f()
  error("in module")
end
f()
