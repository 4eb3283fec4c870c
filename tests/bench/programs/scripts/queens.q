% In how many ways n queens leave each other alone
function n = inputs(size)
    n = size
end
function count = place(row, n, columns, up, down)
    count = 0
    if row == n
        count = 1
    else
        for c = 0..n-1
            if columns[c] == 0 && up[row+c] == 0 && down[row-c+n] == 0
                columns[c] = 1
                up[row+c] = 1
                down[row-c+n] = 1
                count += place(row + 1, n, columns, up, down)
                columns[c] = 0
                up[row+c] = 0
                down[row-c+n] = 0
            end
        end
    end
end
function count = queens(n)
    count = place(0, n, int(zeros(n)), int(zeros(2*n)), int(zeros(2*n)))
end
