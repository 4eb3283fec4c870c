// embed.rs -- the language inside a Rust program: rustc -O embed.rs -L /usr/local/lib
use std::ffi::{c_char, c_int, c_void, CStr, CString};

const QS_F32: c_int = 11;
const QS_MAX_RANK: usize = 8;

#[repr(C)]
#[derive(Clone, Copy)]
struct Value { kind: u32, aux: u32, bits: u64 }
#[repr(C)]
struct ArrayInfo { dtype: c_int, rank: c_int, dims: [i64; QS_MAX_RANK], strides: [i64; QS_MAX_RANK], nbytes: usize, readonly: bool }
enum Vm {}

#[link(name = "quasar")]
extern "C" {
    fn qs_open(config: *const c_void, out: *mut *mut Vm) -> c_int;
    fn qs_close(vm: *mut Vm);
    fn qs_load(vm: *mut Vm, name: *const c_char, text: *const c_char, n: usize) -> c_int;
    fn qs_global(vm: *mut Vm, name: *const c_char, out: *mut Value) -> c_int;
    fn qs_call(vm: *mut Vm, f: Value, nin: c_int, args: *const Value, nout: c_int, out: *mut Value) -> c_int;
    fn qs_array_wrap(vm: *mut Vm, info: *const ArrayInfo, data: *mut c_void, device: c_int,
                     release: Option<extern "C" fn(*mut c_void)>, owner: *mut c_void, out: *mut Value) -> c_int;
    fn qs_release(vm: *mut Vm, v: Value);
    fn qs_error_report(vm: *mut Vm) -> *const c_char;
}

/// A machine, which is closed when it goes out of scope.
struct Machine(*mut Vm);

impl Machine {
    fn open() -> Result<Machine, String> {
        let mut vm = std::ptr::null_mut();
        let status = unsafe { qs_open(std::ptr::null(), &mut vm) };
        let machine = Machine(vm);
        machine.check(status).map(|_| machine)
    }
    fn check(&self, status: c_int) -> Result<(), String> {
        if status == 0 { return Ok(()); }
        if self.0.is_null() { return Err("no memory for a machine".into()); }
        Err(unsafe { CStr::from_ptr(qs_error_report(self.0)) }.to_string_lossy().into_owned())
    }
    fn load(&self, name: &str, text: &str) -> Result<(), String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        self.check(unsafe { qs_load(self.0, name.as_ptr(), text.as_ptr() as *const c_char, text.len()) })
    }
    /// Calls a function of the program with memory of ours, which it changes where it is.
    fn call_on(&self, function: &str, samples: &mut [f32]) -> Result<(), String> {
        let name = CString::new(function).map_err(|e| e.to_string())?;
        let nil = Value { kind: 0, aux: 0, bits: 0 };
        let (mut f, mut x) = (nil, nil);
        let mut info = ArrayInfo { dtype: QS_F32, rank: 1, dims: [0; QS_MAX_RANK], strides: [0; QS_MAX_RANK],
                                   nbytes: std::mem::size_of_val(samples), readonly: false };
        info.dims[0] = samples.len() as i64;
        info.strides[0] = 1;
        let data = samples.as_mut_ptr() as *mut c_void;
        unsafe {
            self.check(qs_global(self.0, name.as_ptr(), &mut f))?;
            let wrapped = self.check(qs_array_wrap(self.0, &info, data, -1, None, std::ptr::null_mut(), &mut x));
            let called = wrapped.and_then(|_| self.check(qs_call(self.0, f, 1, &x, 0, std::ptr::null_mut())));
            qs_release(self.0, x);
            qs_release(self.0, f);
            called
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) { unsafe { qs_close(self.0) } }
}

fn main() -> Result<(), String> {
    let machine = Machine::open()?;
    machine.load("sound.q", "function [] = louder(x)\n x[0..numel(x)-1] = 10*x\nend\n")?;
    let mut samples = [1.0f32, 2.0, 3.0, 6.0];
    machine.call_on("louder", &mut samples)?;
    println!("louder: {} {} {} {}", samples[0], samples[1], samples[2], samples[3]);
    Ok(())
}
