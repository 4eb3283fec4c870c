import "system.q"
A = [-2, 0.5, -0.05, 3]
B = copy(A); B[B > 0] = 1; print B
B = copy(A); B[B < 0] = 0; print B
B = copy(A); B[B >= 0.5] = -1; print B
B = copy(A); B[A <= -0.05] = 7; print B
B = copy(A); B[B == 3] = 4; print B
B = copy(A); B[B != 3] = 0; print B
B = copy(A); B[B > -1 && B < 1] = 9; print B
B = copy(A); B[B < -1 || B > 1] = 5; print B
C = [1/0, -1/0, 0/0, 1]
C[C > 0] = 2
print C
M = [[1,-2],[-3,4]]
M[M < 0] = 10*M[M < 0]
print M
