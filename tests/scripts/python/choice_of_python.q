% devices: one
% What pyconfig prints differs between machines: tests/python/inside.py looks at the choice. Here: it is a function
% that exists, with or without Python.
print type(pyconfig)
