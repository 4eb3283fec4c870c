print int(2.9), int(-2.9), " ", int([1.5,-1.5]), " ", type(int(2.5)), " ", type(int([1.5]))
print float(int(3)), " ", type(float(int(3)))
m : vec[uint8] = [1,2,255]
print float(m)/2, " ", type(float(m)), " ", type(m)
w : vec[int] = [1,2]
print type(float(w)), " ", int(1e30), " ", int(nan)
