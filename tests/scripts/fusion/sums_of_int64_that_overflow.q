% options: --loops always
z = int64(zeros(100000)) + int(1152921504606846976)
w = int64(zeros(100000))
try
    print sum(z + w)
catch e
    print e
end
print sum((w + 3).*2), " ", mean(z + w) == 1152921504606846976, " ", sum((z[0..3] + w[0..3]))
