% needs: lapack
function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
u : vec[uint8] = [200, 3, 100]
print isclose([1,2,nan,inf,-inf], [1.000001,2.1,nan,inf,inf]), " ", isclose(1, 1+1e-7), " ", isclose([], []), " ", isclose(inf, 1)
print allclose([1,2], [1,2.1]), " ", allclose([1,2], [1,2.1], 0.1), " ", allclose(5, 5.5, 0, 0.5), " ", allclose([], []), " ", allclose(u, u)
print isclose([1j, 2+1e-7j, complex(1/0,1)], [1j, 2, complex(1/0,1)]), " ", isclose(1j, 1), " ", allclose([1j], 1j), " ", isclose(1j, complex(0,0/0))
print isclose([[1,2],[3,4]], [1,4]), " ", isclose(u, [200,4,100])
print kron([1,2], [1,10]), " ", kron([[1,2],[3,4]], eye(2)), kron(2, [1,nan]), " ", kron([1j], [1j,2]), " ", kron(u, [1,0]), " ", isempty(kron([], [1,2]))
print cross([1,0,0], [0,1,0]), " ", cross([[1,2,3],[0,0,1]], [[4,5,6],[1,0,0]]), " ", cross(u, u), " ", cross([1,inf,0], [0,0,1])
x = reshape(0..23, [2,3,4])
print size(moveaxis(x, 0, 2)), " ", size(moveaxis(x, 2, 0)), " ", moveaxis(x, 0, 2)[2,3,1], " ", moveaxis([1,2], 0, 1), " ", moveaxis([[1,2],[3,4]], 0, 0)
[r, info] = chol_ex([[4,2],[2,5]])
print r, " ", info
[r, info] = chol_ex([[1,2],[2,1]])
print r, " ", info
[r, info] = chol_ex(4)
print r, " ", info
attempt(() -> chol_ex([]))
attempt(() -> isclose("a", 1))
attempt(() -> allclose([1,2], [1,2,3]))
attempt(() -> isclose({"a"}, [1]))
attempt(() -> isclose(1, 1, "r"))
attempt(() -> kron("a", 1))
attempt(() -> kron(zeros(2,2,2), 1))
attempt(() -> cross([1,2], [3,4]))
attempt(() -> cross([1j,2,3], [1,2,3]))
attempt(() -> cross({1}, [1,2,3]))
attempt(() -> moveaxis([1,2], 2, 0))
attempt(() -> moveaxis("a", 0, 1))
attempt(() -> chol_ex([[1,2,3],[4,5,6]]))
attempt(() -> chol_ex("a"))
print isclose(float32([1.1754944e-38, 1]), float16([0, 1])), isclose(float16([60000]), float16([-60000])), isclose(float64([1e-9]), float16([0]))
