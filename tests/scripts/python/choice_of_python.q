% devices: one
% The output of pyconfig differs between machines: tests/python/inside.py tests the choice. Here: it is a function
% that exists, with or without Python.
print type(pyconfig)
