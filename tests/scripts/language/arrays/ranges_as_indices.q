% A range as an index selects like the vector of its numbers: at every index position, with any step, on both sides.
x = 0..19
y = x[3..7]
y[0] = 100                             % a slice is an array of its own
print x[0..5], y
print x[19..-1..15], x[2..3..19], x[5..4], x[4..4], x[0..4.5]
M = reshape(0..29, [5,6])
print M[:,1..4], M[1..2..4,:], M[1..3,2], M[2,1..3], M[4..-2..0,5..-1..3]
C = reshape(0..23, [2,3,4])
print C[0..1,2..-1..1,3], C[1,:,1..2], C[:,1,:]

function [] = fails(f)
    try
        print f()
    catch e
        print e
    end
end
fails(() -> x[18..22])
fails(() -> x[-3..3])
fails(() -> x[20..-1..18])
fails(() -> M[0..5,1])
fails(() -> M[0..2])
fails(() -> M[0..1,0..1,0..1])
fails(() -> x[0..0..3])
fails(() -> x["a"..3])

print x[0.5..3]
safe = (x : vec'safe) -> x[18..22]
turned = (x : vec'circular) -> x[-2..2]
mirrored = (x : vec'mirror) -> x[-2..2]
clamped = (x : mat'clamped) -> x[-1..1,4..7]
print safe(x), turned(x), mirrored(x), clamped(M)
print M[0..1]                          % one place, with a warning

B = zeros(8)
B[1..3] = [7,8,9]
B[7..-1..5] = [1,2,3]
print B
B[1..6] = B[0..5]                      % the old elements, although both share memory
print B
B[0..5] = B[1..6] + 1
B[2..6] += B[6..-1..2]
B[0..2..6] = -1
print B
fails(() -> B[1..3] = [1,2])
M[1..2,1..3] = 0
M[:,0..1] += 100
M[0..-1..0,:] = M[4..4,:]
print M

list = {1,2,3,4}
print list[1..2]
list[1..2] = {7,8}
print list
text = grad(x -> sum(x[1..3].*x[0..2]), [1,2,3,4])
print text
