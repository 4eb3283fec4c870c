% lcm is exact, or an error.
print lcm(4, 6), " ", lcm([4,6], [6,9]), " ", lcm(int64([4,0]), 10), " ", lcm(2^26, 3^16)
try
    lcm(int(3)^20, int(7)^9)
catch e
    print e
end
