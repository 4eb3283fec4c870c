% args: --quick
% Trains a small U-Net to remove noise, on patches of the photograph, and compares it with the non-local means of denoise.q
% on a picture that it has not seen: leaves that cover each other, which this program draws.
%
%   qrun examples/unet.q [steps]      trains, writes out/unet.safetensors, out/leaves_*.png
%   qrun examples/unet.q --quick      a tiny network and a few steps, for tests

import "Quasar.DNN.dll"
import "denoise.q"
import "imresize.q"

% -- the network: each level has half the rows and columns of the one above, and comes back with what that has seen -----

function net = new_network(width, channels)
    [a, b, c] = {width, 2*width, 3*width}
    net = object()
    layer = (name, m, n, scale) -> (setfield(net, strcat(name, ".weight"), scale*he_normal([m,n,3,3]));
                                    setfield(net, strcat(name, ".bias"), zeros(m)))
    layer("in0", a, channels, 1)
    layer("in1", a, a, 1)
    layer("down0", b, a, 1)
    layer("down1", b, b, 1)
    layer("deep0", c, b, 1)
    layer("deep1", b, c, 1)
    layer("up0", b, 2*b, 1)
    layer("up1", a, b, 1)
    layer("out0", a, 2*a, 1)
    layer("out1", channels, a, 0.1)
end

function y = convolved(net, name, x)
    y = conv2d(x, getfield(net, strcat(name, ".weight")), getfield(net, strcat(name, ".bias")), padding:=1)
end

% The noise in x: N x C x H x W, where H and W are multiples of 4.
function noise = predicted_noise(net, x)
    step = (name, x) -> relu(convolved(net, name, x))
    first = step("in1", step("in0", x))
    second = step("down1", step("down0", max_pool2d(first, 2)))
    third = step("deep1", step("deep0", max_pool2d(second, 2)))
    back = step("up1", step("up0", cat(1, upsample(third), second)))
    noise = convolved(net, "out1", step("out0", cat(1, upsample(back), first)))
end

% -- data: channels first, values between -2 and 2 -------------------------------------------------------------------

grey_levels = 64
to_planes = img -> permute(img - 127.5, [2,0,1])/grey_levels
to_image = x -> permute(grey_levels*x, [1,2,0]) + 127.5

% Patches at random places, mirrored and turned at random; their channels change places, are inverted and scaled, or the
% network would know the colours of this photograph alone.
function x = patches(img, count, side)
    x = zeros(count, size(img,0), side, side)
    for k = 0..count-1
        row = randi(size(img,1) - side + 1)
        column = randi(size(img,2) - side + 1)
        p = img[:, row..row+side-1, column..column+side-1]
        p = randi(2) == 1 ? flip(p, 1) : p
        p = randi(2) == 1 ? flip(p, 2) : p
        p = randi(2) == 1 ? permute(p, [0,2,1]) : p
        gain = (2*(rand(3,1,1) > 0.5) - 1).*(0.7 + 0.5*rand(3,1,1))
        x[k,:,:,:] = p[randperm(3),:,:].*gain
    end
end

% A picture of discs that hide each other, most of them small; each with a colour, a shading and a texture. It is painted
% in twice the resolution, and each pixel sees the mean of what is in front of it.
function [] = __kernel__ paint_leaves(img : cube'unchecked, discs : mat'unchecked, pos : ivec2)
    color = [0.0, 0.0, 0.0]
    for k = 0..size(discs,0)-1
        dy = pos[0] - discs[k,0]
        dx = pos[1] - discs[k,1]
        if dy*dy + dx*dx < discs[k,2]*discs[k,2]
            shade = 1 + 0.25*(dy*discs[k,6] + dx*discs[k,7])/discs[k,2] + _
                    discs[k,10]*sin(pos[0]*discs[k,8] + pos[1]*discs[k,9])
            color = [discs[k,3], discs[k,4], discs[k,5]]*shade
        end
    end
    img[pos[0], pos[1], 0..2] = color
end

function img = leaves(pixels, count)
    side = 2*pixels
    u = rand(count, 11)
    discs = u*side
    discs[:,2] = min(8*u[:,2].^(-0.6), side/3)
    discs[0,2] = 4*side
    discs[:,3..5] = 40 + 175*u[:,3..5]
    discs[:,6..7] = 2*u[:,6..7] - 1
    discs[:,8..9] = 1.2*u[:,8..9]
    discs[:,10] = 0.15*u[:,10].^2
    img = zeros(side, side, 3)
    parallel_do([side,side], img, discs, paint_leaves)
    img = imresize(clamp(img, 0, 255), 0.5)
end

% -- training --------------------------------------------------------------------------------------------------------

function e = loss(net, clean, noise)
    e = mse_loss(predicted_noise(net, clean + noise), noise)
end

function [net, first, last] = train(net, img, sigma, steps, count, side)
    state = null
    [first, last] = {0, 0}
    for k = 0..steps-1
        clean = patches(img, count, side)
        noise = sigma*randn(size(clean))
        [e, g] = value_and_grad(loss, net, clean, noise)
        rate = 0.002*min(1, (k+1)/20)*(0.02 + 0.98*(0.5 + 0.5*cos(pi*k/steps)))
        [net, state] = adam(net, g, state, rate)
        first += k < steps/5 ? e : 0
        last += k >= 4*steps/5 ? e : 0
        if mod(k+1, 100) == 0
            printf("step %d: mean squared error %.1f of %.1f (grey levels squared)", k+1, grey_levels^2*e, grey_levels^2*sigma^2)
        endif
    end
end

function [] = main()
    options = args()
    quick = numel(options) > 0 && options[0] == "--quick"
    steps = quick ? 40 : (numel(options) > 0 ? round(str2num(options[0])) : 4000)
    randseed(1)
    sigma = 20
    photograph = to_planes(imread("examples/images/astronaut.png"))
    net = quick ? new_network(4, 3) : new_network(24, 3)

    tic()
    [net, first, last] = train(net, photograph, sigma/grey_levels, steps, 8, quick ? 16 : 32)
    seconds = toc("")/1000
    printf("the loss falls: %d", last < 0.9*first)
    assert(last < 0.9*first, "training must lower the loss: it was ", first, " and is ", last)
    if !quick
        randseed(2)                % the same picture after any number of steps
        clean = leaves(256, 3000)
        noisy = clean + sigma*randn(size(clean))
        means = uninit(size(noisy))
        parallel_do(size(noisy,0..1), noisy, means, 7, 1, 0.95*sigma, nlmeans)
        x = to_planes(noisy)
        y = x - reshape(predicted_noise(net, reshape(x, [1,3,256,256])), size(x))
        denoised = to_image(y)
        printf("%d steps in %.0f s", steps, seconds)
        printf("PSNR of a picture that was not trained on: noisy %.2f dB, non-local means %.2f dB, U-Net %.2f dB",
               psnr(clean, noisy), psnr(clean, means), psnr(clean, denoised))
        makedir("out")
        save("out/unet.safetensors", net)
        imwrite("out/leaves_noisy.png", noisy)
        imwrite("out/leaves_means.png", means)
        imwrite("out/leaves_unet.png", denoised)
        imwrite("out/leaves_clean.png", clean)
        assert(psnr(clean, denoised) > psnr(clean, means), "the network must be better than non-local means")
    endif
end
