% exit: 1
% needs: python
% devices: one
pyimport("builtins").int("x")
