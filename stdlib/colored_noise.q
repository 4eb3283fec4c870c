% Module: colored_noise.q
% Stationary Gaussian noise with a given spectrum.
import "check.q"

% Function: generate_psd
% The power spectral density of white noise of variance 1 after a filter; or one that is given by a function of the
% frequency.
%
% Parameters:
% mask - the impulse response of the filter
% dims - [height, width] of the noise
% spectrum - of frequencies in turns per pixel, 0 to sqrt(1/2): how the power goes with them, e.g. psd_ct_ramp_spectrum_noise
% variance - of the noise of this spectrum
% white - the variance of the white noise that comes to it
%
% :function psd = generate_psd(mask : mat, dims : vec)
% :function psd = generate_psd(dims : vec, spectrum, variance = 1, white = 0)
function psd = generate_psd(mask : mat, dims : vec)
    dims = check_plane("generate_psd: dims", dims)
    assert(all(size(mask) <= dims), "generate_psd: dims must hold the mask of size ", size(mask), ", got ", dims)
    padded = zeros_like(mask, dims)
    padded[0..size(mask,0)-1, 0..size(mask,1)-1] = mask
    psd = abs(fft2(padded)).^2
end
function psd = generate_psd(dims : vec, spectrum : [?? -> ??], variance = 1, white = 0)
    dims = check_plane("generate_psd: dims", dims)
    axis = n -> mod((0..n-1)/n + 0.5, 1) - 0.5
    u = repmat(transpose(axis(dims[0])), [1,dims[1]])
    v = repmat(axis(dims[1]), [dims[0],1])
    power = spectrum(sqrt(u.^2 + v.^2))
    psd = power*(variance/mean(power)) + white
end

% Function: psd_ct_ramp_spectrum_noise
% The spectrum of the noise of computed tomography: filtered back projection makes its power grow with the frequency,
% the window of the filter, here a cosine, makes it fall to 0 at half a turn per pixel.
% Source: Riederer, Pelc, Chesler: The noise power spectrum in computed X-ray tomography, Physics in Medicine and Biology
% (1978).
function power = psd_ct_ramp_spectrum_noise(f)
    power = f.*cos(pi*min(f, 0.5)).^2
end

% Function: cgn_rand
% Gaussian noise of mean 0 whose power spectral density is psd, frequency 0 first; its variance is mean(psd).  With
% dims = [height, width, channels] each channel has noise of its own.
%
% :function y = cgn_rand(psd : mat)
% :function y = cgn_rand(dims : vec, psd : mat)
function y = cgn_rand(psd : mat)
    y = real(ifft2(sqrt(psd).*fft2(randn(size(psd)))))
end
function y = cgn_rand(dims : vec, psd : mat)
    assert(numel(dims) >= 2 && numel(dims) <= 3 && all(dims[0..1] == size(psd)), _
           "cgn_rand: psd has size ", size(psd), ", noise of size ", dims, " is wanted")
    if numel(dims) == 2
        y = cgn_rand(psd)
    else
        y = zeros(dims)
        for c = 0..dims[2]-1
            y[:,:,c] = cgn_rand(psd)
        end
    endif
end
