print later(2)
function y = later(x)
    y = helper(x) + 1
end
function y = helper(x)
    y = 10*x
end
