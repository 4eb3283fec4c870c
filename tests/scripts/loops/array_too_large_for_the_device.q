% options: --memory-limit 8M --loops always
% devices: opencl
% The device has no room for the array: the loop runs on the CPU.
x = zeros(4000000)
for i=0..3999999
    x[i] = i*2
end
print x[3999999]
