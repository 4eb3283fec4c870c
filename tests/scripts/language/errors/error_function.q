% exit: 1
function [] = f()
    error("a message, 50% sure")
end
f()
