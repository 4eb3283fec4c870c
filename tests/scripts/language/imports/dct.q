% a program that has the name of the library's module that it imports
import "dct.q"
print round(dct1([3,3,3,3]))
