% part
function y = fifth_after(x, i)
    y = x[i+5]
end
