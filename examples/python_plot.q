% needs: python numpy matplotlib
% devices: one
% A figure from the arrays of a script, drawn by matplotlib.
%
%   qrun examples/python_plot.q      writes out/plot.png

matplotlib = pyimport("matplotlib")
matplotlib.use("Agg")                       % draw into files, without a window
plt = pyimport("matplotlib.pyplot")
os = pyimport("os")

function [] = main()
    x = 0..0.02..10
    y = exp(-x/4).*sin(2*pi*x)

    [figure, axes] = plt.subplots(figsize:={7,4})
    axes.plot(x, y, label:="signal")        % vectors go as they are, without a copy
    axes.fill_between(x, exp(-x/4), -exp(-x/4), alpha:=0.2, label:="envelope")
    axes.set_xlabel("seconds")
    axes.set_title("A damped oscillation")
    axes.legend()
    axes.grid(true)

    makedir("out")
    figure.savefig("out/plot.png", dpi:=pyint(100))
    assert(os.path.getsize("out/plot.png") > 10000, "the picture must have something in it")
    print "wrote out/plot.png"
end
