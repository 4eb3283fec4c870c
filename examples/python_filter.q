% needs: python numpy scipy
% devices: one
% SciPy on the arrays of a script: a noisy recording is filtered, its period is found, a model is fitted.

signal = pyimport("scipy.signal")
optimize = pyimport("scipy.optimize")
np = pyimport("numpy")

function [] = main()
    rate = 200
    seconds = 4
    t = (0..rate*seconds-1)/rate
    clean = 1.5*sin(2*pi*3*t)
    noisy = clean + 0.8*randn(size(t))

    % A low-pass filter from SciPy, run forwards and backwards.
    [b, a] = signal.butter(pyint(4), 6, fs:=rate)
    smooth = from_py(signal.filtfilt(b, a, noisy))

    error_before = sqrt(mean((noisy-clean).^2))
    error_after = sqrt(mean((smooth-clean).^2))
    printf("error before: %.2f, after: %.2f", error_before, error_after)

    % The strongest frequency, by Welch's method.
    [f, power] = signal.welch(noisy, fs:=rate, nperseg:=pyint(400))
    frequency = f[power.argmax()]
    print "frequency: ", frequency, " Hz"

    % A script function as the model of a least-squares fit; NumPy's functions work element by element on what it gets.
    model = (x, amplitude, hertz, phase) -> amplitude * np.sin(2*pi*hertz*x + phase)
    [best, covariance] = optimize.curve_fit(model, pyfloat(t), noisy, p0:={1, frequency, 0.1})
    printf("amplitude: %.2f, frequency: %.3f Hz", best[0].from_py(), best[1].from_py())

    assert(error_after < error_before/2, "the filter must halve the error")
    assert(abs(abs(best[0].from_py()) - 1.5) < 0.2, "the fit must find the amplitude")
end
