/* quasar.hpp -- the interface of quasar.h in C++17: values release themselves, failures are exceptions.
 *
 *     quasar::Machine q;                              // closed at the end of its scope
 *     q.load("gain.q", "function y = louder(x, k)\n y = x*k\n end");
 *     std::vector<float> x{1, 2, 3};
 *     quasar::Value y = q.call("louder", q.array(x.data(), {3}), 2.0);
 *     quasar::Reading<float> data(y);                 // a lock for reading, until the end of its scope
 *
 * A Value belongs to the Machine that made it, and ends before it.  Everything else is as quasar.h says: what is not
 * here is called with Machine::vm() and Value::raw(). */
#ifndef QUASAR_HPP
#define QUASAR_HPP
#include <quasar.h>

#include <array>
#include <complex>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace quasar {

/* what() is the sentence, report() shows the line of the program as well. */
class Error : public std::runtime_error {
public:
    Error(qs_status status, const char *sentence, const char *report)
        : std::runtime_error(sentence ? sentence : "no memory for a machine"), status_(status), report_(report ? report : "") {}
    qs_status status() const { return status_; }
    const std::string &report() const { return report_; }

private:
    qs_status status_;
    std::string report_;
};

inline void check(qs_vm *vm, qs_status s) {
    if (s == QS_OK) return;
    Error e(s, vm ? qs_error(vm) : nullptr, vm ? qs_error_report(vm) : nullptr);
    if (vm) qs_error_clear(vm);
    throw e;
}

template <class T> struct dtype_of; /* the element type that has the layout of T */
template <> struct dtype_of<bool> { static constexpr qs_dtype value = QS_B1; };
template <> struct dtype_of<int8_t> { static constexpr qs_dtype value = QS_I8; };
template <> struct dtype_of<uint8_t> { static constexpr qs_dtype value = QS_U8; };
template <> struct dtype_of<int16_t> { static constexpr qs_dtype value = QS_I16; };
template <> struct dtype_of<uint16_t> { static constexpr qs_dtype value = QS_U16; };
template <> struct dtype_of<int32_t> { static constexpr qs_dtype value = QS_I32; };
template <> struct dtype_of<uint32_t> { static constexpr qs_dtype value = QS_U32; };
template <> struct dtype_of<int64_t> { static constexpr qs_dtype value = QS_I64; };
template <> struct dtype_of<uint64_t> { static constexpr qs_dtype value = QS_U64; };
template <> struct dtype_of<float> { static constexpr qs_dtype value = QS_F32; };
template <> struct dtype_of<double> { static constexpr qs_dtype value = QS_F64; };
template <> struct dtype_of<std::complex<float>> { static constexpr qs_dtype value = QS_C64; };
template <> struct dtype_of<std::complex<double>> { static constexpr qs_dtype value = QS_C128; };

class Value {
public:
    Value(double x = 0) : v_(qs_num(x)) {}
    Value(int x) : v_(qs_int(x)) {}
    Value(bool x) : v_(qs_bool(x)) {}
    Value(qs_vm *vm, qs_value owned) : vm_(vm), v_(owned) {}
    Value(const Value &o) : vm_(o.vm_), v_(qs_retain(o.v_)) {}
    Value(Value &&o) noexcept : vm_(o.vm_), v_(o.v_) { o.v_ = qs_nil(); }
    Value &operator=(Value o) { return std::swap(vm_, o.vm_), std::swap(v_, o.v_), *this; }
    ~Value() { if (vm_) qs_release(vm_, v_); }

    qs_value raw() const { return v_; }
    qs_vm *vm() const { return vm_; }
    double number() const { double x = 0; return check(vm_, qs_to_num(vm_, v_, &x)), x; }
    std::string text() const { /* as print shows it */
        qs_value s = qs_nil();
        check(vm_, qs_format(vm_, v_, &s));
        return std::string(qs_to_string(Value(vm_, s).raw(), nullptr));
    }

private:
    qs_vm *vm_ = nullptr; /* null: a number, which has no machine */
    qs_value v_;
};

/* The elements of an array, as they lie (qs_array_info says how), readable until the end of the scope. */
template <class T> class Reading {
public:
    explicit Reading(Value v) : v_(std::move(v)) {
        if (!qs_array_describe(v_.raw(), &info) || info.dtype != dtype_of<T>::value)
            throw std::invalid_argument(std::string("these are no elements of the wanted type, but ") +
                                        (v_.vm() ? qs_type_name(v_.vm(), v_.raw()) : "a number"));
        void *p = nullptr;
        check(v_.vm(), qs_lock(v_.vm(), v_.raw(), -1, QS_READ, &p));
        data = static_cast<const T *>(p);
    }
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;
    ~Reading() { if (qs_unlock(v_.vm(), v_.raw(), -1, QS_READ) != QS_OK) qs_error_clear(v_.vm()); }
    const T *data;
    qs_array_info info;

private:
    Value v_;
};

class Machine {
public:
    explicit Machine(const qs_config *config = nullptr) {
        if (qs_status s = qs_open(config, &vm_)) {
            Error e(s, vm_ ? qs_error(vm_) : nullptr, vm_ ? qs_error_report(vm_) : nullptr);
            qs_close(vm_);
            throw e;
        }
    }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    ~Machine() { qs_close(vm_); }
    qs_vm *vm() const { return vm_; }

    void load(const char *name, const char *text) { check(vm_, qs_load(vm_, name, text, std::strlen(text))); }
    void run_file(const char *path) { check(vm_, qs_run_file(vm_, path)); }
    Value eval(const char *text) { return make([&](qs_value *out) { return qs_eval(vm_, text, out); }); }
    Value global(const char *name) { return make([&](qs_value *out) { return qs_global(vm_, name, out); }); }
    Value string(const std::string &s) { return make([&](qs_value *out) { return qs_string(vm_, s.data(), s.size(), out); }); }
    /* Packed memory of yours as an array, without a copy; it outlives what is made of it. */
    template <class T> Value array(T *data, std::initializer_list<int64_t> dims) {
        qs_array_info info{};
        if (dims.size() > QS_MAX_RANK) throw std::invalid_argument("an array has 8 dimensions at most");
        info.dtype = dtype_of<T>::value, info.nbytes = sizeof(T);
        for (int64_t n : dims) info.dims[info.rank++] = n;
        for (int d = info.rank; d-- > 0; info.nbytes *= static_cast<size_t>(info.dims[d]))
            info.strides[d] = d + 1 < info.rank ? info.strides[d + 1] * info.dims[d + 1] : 1;
        return make([&](qs_value *out) { return qs_array_wrap(vm_, &info, data, -1, nullptr, nullptr, out); });
    }
    /* The first result of a function of the program, or built in; null where it gives none. */
    template <class... A> Value call(const char *name, const A &...args) {
        Value f = global(name);
        std::array<Value, sizeof...(A)> in{Value(args)...};
        std::array<qs_value, sizeof...(A) + 1> raw{};
        for (size_t i = 0; i < in.size(); i++) raw[i] = in[i].raw();
        int n = static_cast<int>(in.size());
        return make([&](qs_value *out) { return qs_call(vm_, f.raw(), n, raw.data(), -1, out); });
    }

private:
    template <class F> Value make(F f) {
        qs_value out = qs_nil();
        check(vm_, f(&out));
        return Value(vm_, out);
    }
    qs_vm *vm_ = nullptr;
};

/* What a function of a library in machine code (qrun --make-lib) takes and gives: a qs_view that releases itself.  As an
 * argument it is packed memory of yours, or a number. */
class View : public qs_view {
public:
    View() : qs_view{} {}
    template <class T> View(T *data, std::initializer_list<int64_t> extents)
        : qs_view(qs_view_packed(const_cast<std::remove_const_t<T> *>(data), dtype_of<std::remove_const_t<T>>::value,
                                 static_cast<int>(extents.size()), extents.begin())) {
        if (std::is_const<T>::value) owner = QS_READONLY; // a function that writes to it is an error
    }
    View(View &&v) noexcept : qs_view(v) { static_cast<qs_view &>(v) = qs_view{}; }
    View &operator=(View &&v) noexcept { return std::swap(static_cast<qs_view &>(*this), static_cast<qs_view &>(v)), *this; }
    ~View() { qs_view_release(this); }
    size_t count() const { return qs_view_count(this); }
    double number() const { return qs_view_number(this); }
    template <class T> const T *elements() const {
        if (dtype != dtype_of<T>::value) throw std::invalid_argument("its elements have another type");
        return static_cast<const T *>(data);
    }
};

inline void check_native(qs_status s) {
    if (s != QS_OK) throw Error(s, qs_native_error(), qs_native_error());
}

} // namespace quasar
#endif
