% exit: 1
for i = 0..2
    try
        print i
    finally
        break
    end
end
function y = k()
    y = 0
    try
        y = 1
    finally
        return
    end
end
