% Moves of the towers of Hanoi
function n = inputs(size)
    n = size
end
function moves = transfer(n, from, to, other)
    moves = 0
    if n > 0
        moves = transfer(n-1, from, other, to) + 1 + transfer(n-1, other, to, from)
    end
end
function moves = hanoi(n)
    moves = transfer(n, 1, 3, 2)
end
