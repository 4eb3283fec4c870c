% options: --loops always
% Expressions over several channels of the same pixels load whole pixels.
x = mod(reshape(0..6*9*4-1, [6,9,4])*37, 101)
u = uint8(x)
y = 0.5*x[:,:,0] + 2*x[:,:,1] - x[:,:,2]
print y[2,:]
print y - (0.5*copy(x[:,:,0]) + 2*copy(x[:,:,1]) - copy(x[:,:,2]))
z = u[:,:,3] + u[:,:,0].*2 - u[:,:,1]
print z[3,:], " ", type(z)
print max(x[:,:,1] - x[:,:,0]), " ", sum(x[:,:,3].*x[:,:,1]), " ", sum(x[:,:,2] - x[:,:,0], 1)[4,0]
% parts of rows, another image, and the same channel twice
p = x[1..4,2..5,:]
print p[:,:,2] + p[:,:,0] + x[1..4,2..5,1] + p[:,:,0]
print (p[:,:,1] + x[0..3,2..5,0])[0,:]
% the target is a channel
x[:,:,0] += x[:,:,1] + x[:,:,2]
x[:,:,1] = x[:,:,0] - x[:,:,2].*x[:,:,1]
print x[5,:,0], " ", x[5,:,1]
% points
c = reshape((0..19)*0.5, [10,2])
print sqrt(c[:,0].^2 + c[:,1].^2)[7,0], " ", transpose(c[:,1] - c[:,0].*c[:,1])
