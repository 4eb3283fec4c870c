% A program with the same name as the library module that it imports.
import "dct.q"
print round(dct1([3,3,3,3]))
