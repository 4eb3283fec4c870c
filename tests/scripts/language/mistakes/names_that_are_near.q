% A guess is a slip of the finger away; other names are not guessed.
for name = {"zerso", "Zeros", "repamt", "imread2", "gaussian_filtre", "sparse", "edge", "expm", "sqrtm", "logm", "figure", "lenght"}
    try
        eval(strcat("print ", name, "(3)"))
    catch e
        print e
    end
end
