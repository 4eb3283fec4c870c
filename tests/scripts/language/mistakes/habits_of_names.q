% exit: 1
x = idiv(5,3)
y = np.zeros(3)
z = arange(3)
c = cellfun(sin, {1})
d = repelem([1,2], 3)
e = strcmp("a", "b")
f = double([1,2])
g = 3
if true
    pass
end
