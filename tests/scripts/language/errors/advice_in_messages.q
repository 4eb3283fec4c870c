% Messages that say what to write.
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
function n = positions(img)
    n = 0
    for pos = 0..size(img)-1
        n += 1
    end
end
attempt(() -> min(1, 2, 3))
attempt(() -> sum({1,2,3}))
attempt(() -> sum(cell2mat({1,2,3})))
attempt(() -> positions(zeros(3,4)))
