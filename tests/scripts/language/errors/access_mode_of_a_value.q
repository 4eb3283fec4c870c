% exit: 1
x = [1]
y = x'safe
