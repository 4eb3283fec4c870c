lerp = __device__ (a,b,c) -> a*c+b*(1-c)

function [] = __kernel__ color_temperature(x : cube, y : cube, temp : scalar, cold : vec3, hot : vec3, pos : vec2)
    input = x[pos[0],pos[1],0..2]
    if temp<0
        output = lerp(input,cold,(-0.25)*temp)
    else
        output = lerp(input,hot,0.25*temp)
    endif
    y[pos[0],pos[1],0..2] = output
endfunction

hot = [1,0.2,0]*255
cold = [0.3,0.4,1]*255
img_in = 100*ones(2,2,3)
img_out = zeros(size(img_in))
parallel_do(size(img_out,[0,1]), img_in, img_out, 1, cold, hot, color_temperature)
print img_out[0,0,:]
