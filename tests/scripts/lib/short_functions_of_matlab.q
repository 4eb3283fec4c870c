% Short functions that programs of MATLAB use, with values of its documentation or by their definitions.
x = float64([[1,2,1,0],[2,9,2,0],[1,2,1,0],[0,0,0,5]])
print isequal(imtophat(x, ones(2,2)), x - imopen(x, ones(2,2))), isequal(imbothat(x), imclose(x) - x)
h = float64(exp(-0.5*(float64(-2..2)/0.8).^2))
print allclose(imgaussfilt(x, 0.8), imfilter(x, transpose(h)*h/sum(h)^2, [],
                                             "clamped")), size(imgaussfilt(ones(4,5,3), [1,2]))
print padarray([[1,2],[3,4]], [1,2]), padarray([1,2], 1, 7, "post"), padarray([1,2,3], [0,2],
    "symmetric"), padarray([1,2,3], [0,2], "replicate", "pre"),
      padarray([1,2,3], [0,2], "circular", "post"), size(padarray(zeros(2,2,3), [1,1])), padarray(uint8([1]), [1,1], 9)
print logspace(0, 2, 3), logspace(1, 5, 1), deg2rad(180) == pi, rad2deg([pi,0]), sinc([0,1,0.5]), nthroot([-27,8],
    3), nthroot(16, 4), nthroot(8, -3)
print sind([0,30,90,180,270,-90,360]), cosd([0,60,90,180,270,-90,360]), tand([0,45,90,180])
print polyarea([0,1,1,0], [0,0,1,1]), " ", polyarea([0,0,2], [0,1,0]), " ", polyarea([], [])
print movsum([4,8,6,-1,-2], 3), movmean([4,8,6,-1,-2], 3), movmean([4,8,6,-1], 2), movmean([1,2,3],
    [0,1]), movsum([1,2], 5), movmean([], 3)
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> imgaussfilt(x, 0))
attempt(() -> padarray(x, [1,1], "reflect"))
attempt(() -> padarray(x, [1,1], 0, "front"))
attempt(() -> padarray(x, -1))
attempt(() -> logspace(0, 1, 0))
attempt(() -> nthroot(-4, 2))
attempt(() -> nthroot(4, 0))
attempt(() -> polyarea([1,2], [1,2,3]))
attempt(() -> movmean([1,2], 0))
