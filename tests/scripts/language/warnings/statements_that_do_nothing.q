t = 1, 2
t =+ 1
t =- 1
t = -1
t = - 1
t=-1
print t
