% options: --loops always --explain
% A row that is assigned to several names has few elements; a branch with a constant condition is not compiled.
function s = walk(stack)
    s = 0
    n = 0
    while n < 4
        traced = 0
        [cy, cx] = stack[n, :]
        if traced
            print cy
        end
        s += 10*cy + cx
        n += 1
    end
end
print walk([[1, 2], [3, 4], [5, 6], [7, 8]])
