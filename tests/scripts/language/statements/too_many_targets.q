% exit: 1
[a, b, c] = [1, 2]
