m = [[1,2,3],[4,5,6],[7,8,9]]
print m[1,:]
print m[:,1]
print m[0..1,1..2]
print m[2..-1..0,0]
print m[:,[2,0]]
c = zeros(2,2,3)
c[:,:,1] = [[1,2],[3,4]]
print c[:,:,1]
print type(c[:,:,0]), " ", type(m[1,:]), " ", type(m[:,1]), " ", size(m[:,1])
print c[0,1,:]
rgb = ones(1,2,3)
rgb[0,0,:] = [1,2,3]
print rgb[:,:,[2,1,0]][0,0,:]
v = 0..9
print v[2..2..8]
print v[:]
