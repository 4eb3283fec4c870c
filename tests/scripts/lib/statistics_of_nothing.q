% The mean, the median and the spread of an empty array are nan, with a warning.
x = zeros(0)
y = zeros(0,3)
print mean(x), " ", var(x), " ", std(x), " ", median(x), " ", nanmean(x), " ", nanmedian(x), " ", nanvar(x), " ", nanstd(x)
print mean(y,0), " ", var(y,0), " ", std(y,0), " ", median(y,0), " ", nanmean(y,0), " ", nanvar(y,0)
print size(var(y,1)), " ", size(std(x,0)), " ", size(median(y,1))
try
    print quantile(x, 0.5)
catch e
    print e
end
