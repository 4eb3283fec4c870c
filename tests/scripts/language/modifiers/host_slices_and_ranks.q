A : mat'circular = [[1,2,3],[4,5,6]]
print A[-1,-1], " ", A[2,:], " ", A[0,-1..3]
B = A
print B[5,0]
C : mat'clamped = A
print C[-5,-5], C[9,9], " ", C[-1..2,0]
D : cube'mirror = ones(2,2,2)
D[0,0,0] = 7
print D[-1,-1,-1]
E : mat'safe = A
E[10,10] = 5
print E[10,10], " ", sum(E)
C[99,99] = 60
print A[1,2]
