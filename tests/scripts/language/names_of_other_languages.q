% exit: 1
% devices: one
% A name from MATLAB or NumPy is an error that suggests the name in this language.
print mkdir("x")
print argsort([2,1])
print len([2,1]), length([2,1])
print cumtrapz([1,2])
print os_path_join("a")
print imfilter
print map(1), zip([1],[2]), concat([1],[2]), idiv(7,2)
