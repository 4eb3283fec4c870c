% An error that a helper or built-in of the library finds names the function that the program called.
function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
attempt(() -> filtfilt([1,2], [0,0], 0..9))
attempt(() -> griddata([[0,0],[0,1]], [1,2], [[0,0]]))
attempt(() -> zoom([1,2,3], 2, "x"))
attempt(() -> rms("a"))
attempt(() -> imbinarize([1,2], "adaptive", 3))
attempt(() -> median("a"))
% The error of a function that the program passed stays as it is, also one in the library that this function calls.
attempt(() -> blockproc([1,2,3], [1,1], x -> error("mine: no")))
attempt(() -> blockproc([1,2,3], [1,1], x -> zoom(x, 2, "x")))
