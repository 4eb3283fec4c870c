import "system.q"
A = [-2, 0.5, -0.05, 3]
A[A < 0] = 0
print A
B = [[-1, 0.05],[2, -0.01]]
B[B < -0.1 || B > 0.1] = 5
print B
