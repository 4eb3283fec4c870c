% needs: opencl
% devices: cpu
% options: --device tests/scripts/devices/machine.xml

d = devices()
for i = 0..numel(d) - 1
    print(d[i].id, " ", d[i].kind, " ", d[i].current)
end
