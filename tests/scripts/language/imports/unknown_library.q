% exit: 1
import "vendor.dll"
