m = [[1,2,3],[4,5,6]]
print m + [10,20,30]
print m + transpose([100,200])
print transpose([1,2]) .* [1,10]
