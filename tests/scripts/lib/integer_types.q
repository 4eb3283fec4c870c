import "inttypes.q"
y = float_to_uint8([-3, 0.5, 2.4, 300, 0/0])
print y, " ", type(y), " ", uint8_to_float(y)/2
print float_to_int16([40000, -40000, -1.5]), type(float_to_uint16([1])), " ", float_to_int8(200)
