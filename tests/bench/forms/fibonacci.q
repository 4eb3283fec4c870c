% Fibonacci numbers by recursion.
function n = inputs()
    n = 22
end
function y = untyped(n)
    if n < 2
        y = n
    else
        y = untyped(n-1) + untyped(n-2)
    end
end
function y : int = typed(n : int)
    if n < 2
        y = n
    else
        y = typed(n-1) + typed(n-2)
    end
end
function y = with_choice(n)
    y = n < 2 ? n : with_choice(n-1) + with_choice(n-2)
end
function y = scalar_typed(n : scalar)
    y = n
    if n >= 2
        y = scalar_typed(n-1) + scalar_typed(n-2)
    end
end
