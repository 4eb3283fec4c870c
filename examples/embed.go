// embed.go -- the language inside a Go program: go build embed.go
package main

/*
#cgo pkg-config: quasar
#include <quasar.h>
#include <stdlib.h>

static qs_status wrap(qs_vm *vm, float *data, int64_t n, qs_value *out) {
    qs_array_info info = {.dtype = QS_F32, .rank = 1, .dims = {n}, .strides = {1}, .nbytes = (size_t)n * sizeof *data};
    return qs_array_wrap(vm, &info, data, -1, NULL, NULL, out);
}
*/
import "C"
import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

const program = "function [] = louder(x)\n x[0..numel(x)-1] = 10*x\nend\n"

func check(vm *C.qs_vm, status C.qs_status) error {
	if status == C.QS_OK {
		return nil
	}
	return errors.New(C.GoString(C.qs_error_report(vm)))
}

// Calls a function of the program with memory of C, which it changes where it is: Go's own may move.
func call(vm *C.qs_vm, function string, data *C.float, n int) error {
	name := C.CString(function)
	defer C.free(unsafe.Pointer(name))
	var f, x C.qs_value
	if err := check(vm, C.qs_global(vm, name, &f)); err != nil {
		return err
	}
	defer C.qs_release(vm, f)
	if err := check(vm, C.wrap(vm, data, C.int64_t(n), &x)); err != nil {
		return err
	}
	defer C.qs_release(vm, x)
	return check(vm, C.qs_call(vm, f, 1, &x, 0, nil))
}

func run() error {
	runtime.LockOSThread() // one thread at a time uses a machine
	var vm *C.qs_vm
	if C.qs_open(nil, &vm) != C.QS_OK {
		return errors.New("the machine cannot be opened")
	}
	defer C.qs_close(vm)
	name, text := C.CString("sound.q"), C.CString(program)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(text))
	if err := check(vm, C.qs_load(vm, name, text, C.size_t(len(program)))); err != nil {
		return err
	}
	data := (*C.float)(C.malloc(4 * C.sizeof_float))
	defer C.free(unsafe.Pointer(data))
	samples := unsafe.Slice((*float32)(unsafe.Pointer(data)), 4)
	copy(samples, []float32{1, 2, 3, 6})
	if err := call(vm, "louder", data, 4); err != nil {
		return err
	}
	fmt.Println("louder:", samples[0], samples[1], samples[2], samples[3])
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
