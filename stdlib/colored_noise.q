% Module: colored_noise.q
% Stationary Gaussian noise with a given spectrum.

% Function: generate_psd
% The power spectral density of white noise of variance 1 after a filter.
%
% Parameters:
% mask - the impulse response of the filter
% dims - [height, width] of the noise
%
% :function psd = generate_psd(mask : mat, dims : vec)
function psd = generate_psd(mask : mat, dims : vec)
    padded = zeros_like(mask, dims)
    padded[0..size(mask,0)-1, 0..size(mask,1)-1] = mask
    psd = abs(fft2(padded)).^2
end

% Function: cgn_rand
% Gaussian noise of mean 0 whose power spectral density is psd, frequency 0 first; its variance is mean(psd).
%
% :function y = cgn_rand(psd : mat)
function y = cgn_rand(psd : mat)
    y = real(ifft2(sqrt(psd).*fft2(randn(size(psd)))))
end
