% Initial values of fields are constants of any type, converted to the declared type, and each object has its own.
type settings : mutable class
    sigma : scalar = 1.5
    weights : vec = [1,2]
    table : mat = [[1,2],[3,4]]
    n : int = 3
    loud : bool = true
    name : string = "a"
    exact : vec[float64] = [0.1]
    whole = [16777217]
    angle : scalar = pi
    best : scalar = -inf
    at : ivec2 = [1,2]
    nothing : ?? = null
    plain : vec
end
a = settings()
a.weights[0] = 7
a.exact[0] += 1
b = settings(n := 4)
print a
print b
print b.exact[0] == 0.1, type(b.at, "vec[int]"), a.plain
