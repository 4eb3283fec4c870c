% exit: 1
import "no_such_file.q"
