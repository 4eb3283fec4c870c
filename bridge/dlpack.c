/* dlpack.c -- exchanges tensors with libraries that support DLPack 1.x: torch, CuPy, JAX, Paddle, NumPy.
 *
 * Import: a type may offer a table of C functions (__dlpack_c_exchange_api__), the fastest way to describe a tensor;
 * all other producers create a capsule.  Its memory is used in place and released with the last view.  Export: a
 * capsule with a view of the array's memory, versioned or not as the consumer requests.
 *
 * A call borrows only the memory of a tensor, for the duration of the call.  If an array outlives the call, another
 * tensor keeps the memory (qdl_hold), because torch may give a tensor object different memory.  From then on the
 * storage cannot be resized, as after t.numpy(). */
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>

/* -- the structures of DLPack -------------------------------------------------------------------------------------- */

typedef struct {
    int32_t type, id;
} DlDevice;
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DlType;
typedef struct {
    void *data;
    DlDevice device;
    int32_t ndim;
    DlType dtype;
    int64_t *shape, *strides; /* in elements; strides NULL: packed */
    uint64_t offset;          /* in bytes */
} DlTensor;
typedef struct DlManaged {
    DlTensor tensor;
    void *context;
    void (*deleter)(struct DlManaged *);
} DlManaged;
typedef struct {
    uint32_t major, minor;
} DlVersion;
typedef struct DlVersioned {
    DlVersion version;
    void *context;
    void (*deleter)(struct DlVersioned *);
    uint64_t flags;
    DlTensor tensor;
} DlVersioned;
typedef struct DlExchange {
    DlVersion version;
    struct DlExchange *older;
    void *allocate, *managed_from_object, *managed_to_object;
    int (*tensor_from_object)(void *o, DlTensor *out);                  /* borrows from o; may be NULL */
    int (*current_stream)(int32_t device_type, int32_t id, void **out); /* may be NULL */
} DlExchange;

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2, DL_MAJOR = 1, DL_MINOR = 0 };
static const char plain_name[] = "dltensor", versioned_name[] = "dltensor_versioned";

enum { DL_COMPLEX = 5 }; /* the codes of the other types are in dtypes.def */

static DlType type_of(qs_dtype d) { return (DlType){qdtype_info[d].dlcode, (uint8_t)(8 * qdtype_size(d)), 1}; }

static bool dtype_of(DlType t, qs_dtype *out) {
    for (int i = 0; i < QS_NDTYPES; i++) {
        DlType have = type_of((qs_dtype)i);
        if (have.code == t.code && have.bits == t.bits && t.lanes == 1) return *out = (qs_dtype)i, true;
    }
    return false;
}

/* -- import -------------------------------------------------------------------------------------------------------- */

/* Finds the memory of the elements: the host (NULL) or an open device. */
static qs_status place_of(Border *b, DlDevice d, Device **out) {
    static const char *const names[] = {
        [DL_CUDA] = "cuda", [4] = "opencl", [7] = "vulkan", [8] = "metal", [10] = "rocm", [DL_CUDA_MANAGED] = "cuda"};
    bool known = d.type >= 0 && d.type < (int)(sizeof names / sizeof *names) && names[d.type];
    *out = NULL;
    if (d.type == DL_CPU || d.type == DL_CUDA_HOST) return QS_OK;
    if (d.type == DL_CUDA || d.type == DL_CUDA_MANAGED) *out = qgpu_named(b, d.id);
    return *out ? QS_OK : qgpu_absent(b, known ? names[d.type] : "device", d.id);
}

static qs_status check_tensor(Border *b, const DlTensor *t, Device **place, qs_dtype *dtype) {
    TRY(place_of(b, t->device, place));
    if (!dtype_of(t->dtype, dtype))
        return qs_fail(b->vm, QS_ETYPE,
                       "elements of DLPack code %d with %d bits and %d lanes have no counterpart in the language",
                       t->dtype.code, t->dtype.bits, t->dtype.lanes);
    if (t->ndim < 0 || t->ndim > QS_MAX_RANK)
        return qs_fail(b->vm, QS_ETYPE, "a tensor has at most %d dimensions, not %d", QS_MAX_RANK, t->ndim);
    return QS_OK;
}

static bool has_no_elements(const DlTensor *t) {
    bool empty = false;
    for (int i = 0; i < t->ndim; i++) empty |= t->shape[i] == 0;
    return empty;
}

/* Wraps the tensor as an array on the same memory; takes the reference to owner. */
static qs_status wrap_tensor(Border *b, const DlTensor *t, bool readonly, PyObject *owner, Array **out) {
    qs_array_info info = {.rank = t->ndim, .readonly = readonly};
    Py_ssize_t strides[QS_MAX_RANK];
    Device *place;
    qs_status s = check_tensor(b, t, &place, &info.dtype);
    if (s != QS_OK) return qgil_decref(owner), s;
    qarr_packed_strides(t->ndim, t->shape, info.strides);
    for (int i = 0; i < t->ndim; i++) {
        info.dims[i] = t->shape[i];
        if (t->strides && !has_no_elements(t)) info.strides[i] = t->strides[i];
        strides[i] = (Py_ssize_t)info.strides[i] * (Py_ssize_t)qdtype_size(info.dtype);
    }
    void *data = t->data ? (char *)t->data + t->offset : NULL;
    if (!qnd_usable(data, t->ndim, strides, (const Py_ssize_t *)t->shape, info.dtype)) {
        qgil_decref(owner);
        return qs_fail(b->vm, QS_ETYPE, "the elements lie at addresses that are no multiples of their size");
    }
    info.readonly |= qnd_is_stretched(&info);
    return qarr_wrap(b->vm, &info, &(Wrapped){place, (uintptr_t)data, .release = qnd_drop_owner, .owner = owner}, out);
}

static const DlExchange *exchange_of(PyTypeObject *t) {
    PyObject *capsule = PyObject_GetAttrString((PyObject *)t, "__dlpack_c_exchange_api__");
    const DlExchange *x = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    PyErr_Clear();
    Py_XDECREF(capsule);
    while (x && x->version.major > DL_MAJOR) x = x->older;
    return x && x->tensor_from_object ? x : NULL;
}

enum { KNOWN_TYPES = 8 };
typedef struct {
    PyTypeObject *type;
    const DlExchange *exchange;
    bool derives; /* tensors of this type have requires_grad */
    bool counts;  /* tensors of this type have a version counter */
} TensorType;
static TensorType known[KNOWN_TYPES]; /* protected by the GIL; holds references to the types */

/* Returns the properties of a tensor's type; NULL: it has no table.  look: also examine types not seen before. */
static const TensorType *known_type(PyTypeObject *t, bool look) {
    for (int i = 0; i < KNOWN_TYPES && known[i].type; i++)
        if (known[i].type == t) return &known[i];
    const DlExchange *x = look ? exchange_of(t) : NULL;
    if (!x) return NULL;
    int i = 0;
    while (i < KNOWN_TYPES - 1 && known[i].type) i++;
    Py_INCREF(t);
    Py_XDECREF(known[i].type);
    PyObject *type = (PyObject *)t;
    known[i] = (TensorType){t, x, .derives = PyObject_HasAttrString(type, "requires_grad"),
                            .counts = PyObject_HasAttrString(type, "_version")};
    return &known[i];
}

/* A tensor without dimensions becomes a number. */
static qs_status number_or_array(Border *b, Array *a, qs_value *out) {
    *out = qarr_value(a);
    if (a->ndim) return QS_OK;
    qs_status s = qnd_only(b, a, out);
    qarr_release(b->vm, a);
    return s;
}

static bool is_marked(PyObject *o, const char *method) {
    PyObject *r = PyObject_HasAttrString(o, method) ? PyObject_CallMethod(o, method, NULL) : NULL;
    bool yes = r && PyObject_IsTrue(r) == 1;
    PyErr_Clear();
    Py_XDECREF(r);
    return yes;
}

static bool is_packed(const DlTensor *t) {
    int64_t packed = 1;
    if (has_no_elements(t)) return true;
    for (int i = t->ndim; i-- > 0; packed *= t->shape[i])
        if (t->strides && t->shape[i] != 1 && t->strides[i] != packed) return false;
    return packed != 1;
}

/* torch marks lazy conjugates, and imaginary parts of them, on the tensor; its memory does not show them.  A real,
 * packed tensor never has these marks. */
static qs_status check_marks(Border *b, PyObject *o, const DlTensor *t) {
    if (t->dtype.code != DL_COMPLEX && is_packed(t)) return QS_OK;
    bool marked = is_marked(o, "is_conj") || is_marked(o, "is_neg");
    qgil_back(b);
    if (!marked) return QS_OK;
    return qs_fail(b->vm, QS_ETYPE,
                   "the tensor is a conjugate that is not computed yet; x.resolve_conj().resolve_neg() does that");
}

/* Rejects a tensor with requires_grad while torch records, because torch would not see the computation. */
static qs_status check_gradient(Border *b, PyObject *o) {
    static PyObject *name;
    if (!name) name = PyUnicode_InternFromString("requires_grad");
    PyObject *asked = PyObject_GetAttr(o, name), *recording = NULL;
    if (asked == Py_True) recording = qbridge_support("records_gradients", "()");
    bool lost = recording == Py_True;
    Py_XDECREF(asked);
    Py_XDECREF(recording);
    PyErr_Clear();
    qgil_back(b);
    if (!lost) return QS_OK;
    return qs_fail(b->vm, QS_ETYPE,
                   "the tensor requires grad, and torch would not see what is computed here; x.detach() is one that "
                   "does not, torch_op makes an operator with gradients");
}

/* Orders the VM's queue after the stream that the library works on. */
static qs_status follow_producer(Border *b, const DlExchange *x, DlDevice at) {
    void *stream = NULL;
    Device *d = qgpu_named(b, at.id);
    if (!d || !x->current_stream) return QS_OK;
    if (x->current_stream(at.type, at.id, &stream) < 0) return qerror_take(b);
    return qgpu_follow(b, d, (uintptr_t)stream);
}

/* Returns whether the library has only a description of the tensor, no elements. */
static bool is_nowhere(const DlTensor *t) { return !t->data && !has_no_elements(t); }

/* Explains why the elements have no memory and what helps; otherwise converts the current exception. */
static qs_status unreachable(Border *b, PyObject *o) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *text = qbridge_support("nowhere", "(O)", o);
    const char *why = text && text != Py_None ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    qgil_back(b);
    PyErr_Restore(type, value, traceback);
    bool said = why || !PyErr_Occurred();
    if (said) PyErr_Clear();
    qs_status s = said ? qs_fail(b->vm, QS_ETYPE, "%s", why ? why : "the tensor has no memory") : qerror_take(b);
    Py_XDECREF(text);
    return s;
}

bool qdl_borrow(Border *b, PyObject *o, bool look, qs_value *out, qs_status *s) {
    const TensorType *type = known_type(Py_TYPE(o), look);
    DlTensor t;
    Array *a = NULL;
    if (!type) return false;
    if (type->exchange->tensor_from_object(o, &t) < 0 || is_nowhere(&t)) return *s = unreachable(b, o), true;
    *s = check_marks(b, o, &t);
    if (*s == QS_OK && type->derives) *s = check_gradient(b, o);
    if (*s == QS_OK && t.device.type == DL_CUDA) *s = follow_producer(b, type->exchange, t.device);
    if (*s != QS_OK) return true;
    Py_INCREF(o);
    *s = wrap_tensor(b, &t, false, o, &a);
    if (*s == QS_OK && type->counts) qwritten_watch(b, a);
    if (*s == QS_OK) *s = number_or_array(b, a, out);
    return true;
}

void qdl_hold(Border *b, qs_value v) {
    Buffer *memory = v.kind == QS_ARRAY ? qval_array(v)->buf : NULL;
    PyObject *o = memory && memory->release == qnd_drop_owner ? memory->owner : NULL, *type, *value, *traceback;
    const TensorType *t = o ? known_type(Py_TYPE(o), false) : NULL;
    if (!t || !t->derives) return;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *same = qbridge_support("lasting", "(O)", o);
    qgil_back(b);
    if (same) memory->owner = same, Py_DECREF(o);
    PyErr_Restore(type, value, traceback);
}

/* Calls the deleter, which may be Python code, without a pending exception. */
static void delete (void *m, bool versioned) {
    DlManaged *p = m;
    DlVersioned *v = m;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (versioned && v->deleter) v->deleter(v);
    if (!versioned && p->deleter) p->deleter(p);
    PyErr_Restore(type, value, traceback);
}

static void end_plain(PyObject *capsule) { delete (PyCapsule_GetPointer(capsule, NULL), false); }
static void end_versioned(PyObject *capsule) { delete (PyCapsule_GetPointer(capsule, NULL), true); }

typedef struct {
    PyObject *capsule;
    PyObject *counted; /* the tensor with the version counter; NULL: none */
    int constant;
} Lent;

/* Returns (owner, tensor); takes the reference to owner. */
static PyObject *with_tensor(PyObject *owner, PyObject *tensor) {
    PyObject *pair = PyTuple_Pack(2, owner, tensor);
    Py_DECREF(owner);
    return pair;
}

/* Takes over the contents of the capsule and marks it as used. */
static qs_status consume_capsule(Border *b, const Lent *lent, Array **out) {
    PyObject *capsule = lent->capsule;
    bool versioned = PyCapsule_IsValid(capsule, versioned_name);
    if (!versioned && !PyCapsule_IsValid(capsule, plain_name))
        return qs_fail(b->vm, QS_ETYPE, "from_dlpack: a capsule that was not used yet is wanted");
    void *m = PyCapsule_GetPointer(capsule, versioned ? versioned_name : plain_name);
    if (PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") < 0) return qerror_take(b);
    const DlVersioned *v = m;
    if (versioned && v->version.major != DL_MAJOR) {
        qs_status s = qs_fail(b->vm, QS_EVALUE, "from_dlpack: version %u of DLPack is not known", v->version.major);
        return delete (m, true), s;
    }
    PyObject *owner = PyCapsule_New(m, NULL, versioned ? end_versioned : end_plain);
    if (!owner) return delete (m, versioned), qerror_take(b);
    if (lent->counted && !(owner = with_tensor(owner, lent->counted))) return qerror_take(b);
    bool readonly = lent->constant || (versioned && v->flags & DL_READ_ONLY);
    return wrap_tensor(b, versioned ? &v->tensor : &((DlManaged *)m)->tensor, readonly, owner, out);
}

static int raise_error(PyObject *kind, const char *why) { return PyErr_SetString(kind, why), -1; }

/* Reads two numbers, DLPack's form of devices and versions; why: the error message for anything else. */
static int take_pair(PyObject *o, int *first, int *second, const char *why) {
    return PyTuple_Check(o) && PyArg_ParseTuple(o, "ii", first, second) ? 0 : raise_error(PyExc_TypeError, why);
}

/* Returns the device reported by o; the CPU if it reports none. */
static qs_status device_of(Border *b, PyObject *o, DlDevice *out) {
    *out = (DlDevice){DL_CPU, 0};
    bool says_so = PyObject_HasAttrString(o, "__dlpack_device__");
    PyObject *pair = says_so ? PyObject_CallMethod(o, "__dlpack_device__", NULL) : NULL;
    const char *why = "__dlpack_device__ must give two numbers";
    bool right = !says_so || (pair && take_pair(pair, &out->type, &out->id, why) == 0);
    Py_XDECREF(pair);
    qgil_back(b);
    return right ? QS_OK : unreachable(b, o);
}

/* Requests a new capsule of o, of the newest version that it supports, ordered before the VM's queue if it has one. */
static qs_status capsule_of(Border *b, PyObject *o, bool away, Lent *out) {
    DlDevice at;
    Device *place;
    TRY(device_of(b, o, &at));
    qs_status s = place_of(b, at, &place);
    if (s != QS_OK && !away) return s;
    qs_error_clear(b->vm);
    unsigned long long queue = place ? place->ops->sharing->queue(place) : 0;
    DevPtr stream;
    PyObject *parts = qbridge_support("capsule", "(OKi)", o, queue, s != QS_OK);
    qgil_back(b);
    bool right =
        parts && PyArg_ParseTuple(parts, "OpO&O", &out->capsule, &out->constant, qgpu_stream, &stream, &out->counted);
    s = !right ? unreachable(b, o) : place ? qgpu_follow(b, place, stream) : QS_OK;
    if (s == QS_OK && out->counted == Py_None) out->counted = NULL;
    if (s == QS_OK) Py_INCREF(out->capsule), Py_XINCREF(out->counted);
    Py_XDECREF(parts);
    return s;
}

qs_status qdl_take(Border *b, PyObject *o, bool away, qs_value *out) {
    Array *a = NULL;
    Lent lent = {.capsule = o};
    if (Py_TYPE(o) == &PyCapsule_Type) Py_INCREF(o);
    else TRY(capsule_of(b, o, away, &lent));
    qs_status s = consume_capsule(b, &lent, &a);
    Py_DECREF(lent.capsule);
    Py_XDECREF(lent.counted);
    if (s == QS_OK && lent.counted) qwritten_watch(b, a);
    if (s == QS_OK) *out = qarr_value(a);
    return s;
}

bool qdl_argument(Border *b, PyObject *o, qs_value *out, qs_status *s) {
    bool speaks = PyObject_HasAttrString(o, "__dlpack__");
    qgil_back(b);
    if (!speaks) return false;
    *s = qdl_take(b, o, false, out);
    if (*s == QS_OK) *s = number_or_array(b, out->u.p, out);
    return true;
}

/* -- export -------------------------------------------------------------------------------------------------------- */

typedef struct { /* the contents of a capsule: one of the two structures, and the memory */
    union {
        DlManaged plain;
        DlVersioned versioned;
    } head;
    Export *given;
    int64_t shape[QS_MAX_RANK], strides[QS_MAX_RANK];
} Held;

static void free_held(Held *h) {
    if (!Py_IsInitialized() || qbridge.finished) return;
    PyGILState_STATE state = PyGILState_Ensure();
    qnd_take_back(h->given);
    PyGILState_Release(state);
    free(h);
}
static void delete_plain(DlManaged *m) { free_held(m->context); }
static void delete_versioned(DlVersioned *m) { free_held(m->context); }

static void drop_plain(PyObject *capsule) { /* the capsule was not consumed */
    if (PyCapsule_IsValid(capsule, plain_name)) delete_plain(PyCapsule_GetPointer(capsule, plain_name));
}
static void drop_versioned(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, versioned_name)) delete_versioned(PyCapsule_GetPointer(capsule, versioned_name));
}

static DlDevice dl_device(const Device *d) { return d ? (DlDevice){DL_CUDA, d->ordinal} : (DlDevice){DL_CPU, 0}; }

static DlTensor describe_array(Held *h, const Array *a, const Device *d) {
    qarr_shape(a, h->shape, h->strides);
    return (DlTensor){.data = a->count ? h->given->data : NULL,
                      .device = dl_device(d),
                      .ndim = a->ndim,
                      .dtype = type_of((qs_dtype)a->dtype),
                      .shape = h->shape,
                      .strides = h->strides};
}

static PyObject *make_capsule(Border *b, Array *a, Device *d, bool versioned, bool copied) {
    Held *h = calloc(1, sizeof *h);
    qs_status s = h ? qnd_give(b, a, d, &h->given) : qs_fail(b->vm, QS_ENOMEM, "out of memory");
    if (s != QS_OK) return free(h), qerror_raise(b, s);
    DlTensor t = describe_array(h, a, d);
    uint64_t flags = (h->given->readonly ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0);
    if (versioned) h->head.versioned = (DlVersioned){{DL_MAJOR, DL_MINOR}, h, delete_versioned, flags, t};
    else h->head.plain = (DlManaged){t, h, delete_plain};
    PyObject *r =
        versioned ? PyCapsule_New(h, versioned_name, drop_versioned) : PyCapsule_New(h, plain_name, drop_plain);
    if (!r) delete (h, versioned);
    return r;
}

enum { NO_ORDER = -1 }; /* the consumer orders its streams itself */

/* None is the default stream. */
static int check_stream(PyObject *stream, const Device *d, long long *out) {
    *out = d ? 0 : NO_ORDER;
    if (stream == Py_None) return 0;
    *out = PyLong_Check(stream) ? PyLong_AsLongLong(stream) : NO_ORDER - 1;
    if (PyErr_Occurred()) return -1;
    if (!d && *out != NO_ORDER)
        return raise_error(PyExc_TypeError, "__dlpack__: memory of the cpu has no streams; stream must be None or -1");
    return *out >= NO_ORDER ? 0
                            : raise_error(PyExc_TypeError, "__dlpack__: stream must be None, -1, or a stream of CUDA");
}

/* Returns whether elements on a device must be copied to the host; -1 with an exception. */
static int check_device(PyObject *wanted, const Device *d) {
    DlDevice here = dl_device(d), w = here;
    if (wanted != Py_None && take_pair(wanted, &w.type, &w.id, "__dlpack__: dl_device must be two numbers") < 0)
        return -1;
    if (w.type == here.type && w.id == here.id) return 0;
    if (w.type == DL_CPU && w.id == 0) return 1;
    PyErr_Format(PyExc_BufferError, "__dlpack__: the elements can be given on device (%d, %d)%s only, got (%d, %d)",
                 here.type, here.id, d ? ", or copied to the cpu, (1, 0)," : "", w.type, w.id);
    return -1;
}

static int wants_versioned(PyObject *max_version) {
    int major = 0, minor = 0;
    if (max_version == Py_None) return 0;
    if (take_pair(max_version, &major, &minor, "__dlpack__: max_version must be two numbers") < 0) return -1;
    return major >= DL_MAJOR;
}

static PyObject *make_copied(Border *b, Array *a, Device *d, bool versioned) {
    Array *copy;
    qs_status s = qarr_copy(b->vm, a, &copy);
    if (s != QS_OK) return qerror_raise(b, s);
    PyObject *r = make_capsule(b, copy, d, versioned, true);
    qarr_release(b->vm, copy);
    return r;
}

/* Orders the consumer's stream after the work queued on the array. */
static int lead_consumer(Border *b, Device *d, long long stream) {
    qs_status s = d && stream != NO_ORDER ? d->ops->sharing->order(d, (DevPtr)stream, true) : QS_OK;
    return s == QS_OK ? 0 : (qerror_raise(b, s), -1);
}

typedef struct {
    PyObject *stream, *max_version, *device;
    int copy; /* -1: only if necessary */
} Wishes;

static int take_copy(PyObject *o, void *out) { /* converter for PyArg_ParseTuple */
    int wish = o == Py_None ? -1 : PyObject_IsTrue(o);
    return *(int *)out = wish, o == Py_None || wish >= 0;
}

static bool goes_back(const Array *a) {
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] > 1 && a->strides[i] < 0) return true;
    return false;
}

static PyObject *export_array(Border *b, Array *a, const Wishes *w) {
    Device *d = qgpu_of(b, a);
    long long stream;
    int versioned = wants_versioned(w->max_version), away = check_device(w->device, d);
    if (versioned < 0 || away < 0 || check_stream(w->stream, d, &stream) < 0) return NULL;
    bool copied = w->copy < 0 ? away : w->copy;
    if (away && !copied)
        return raise_error(PyExc_BufferError, "__dlpack__: on the cpu the elements are a copy, and copy is False"),
               NULL;
    if (!copied && qarr_is_readonly(a) && !versioned)
        return raise_error(PyExc_BufferError,
                           "__dlpack__: the array is read-only, which only version 1.0 and later can tell"),
               NULL;
    if (!copied && goes_back(a)) /* DLPack allows negative strides, but torch aborts on them */
        return raise_error(
                   PyExc_BufferError,
                   "__dlpack__: a dimension goes backwards, which tensors do not; copy(A) makes an array in order"),
               NULL;
    PyObject *r = copied ? make_copied(b, a, away ? NULL : d, versioned) : make_capsule(b, a, d, versioned, false);
    if (r && !away && lead_consumer(b, d, stream) < 0) Py_CLEAR(r);
    return r;
}

PyObject *qdl_export(PyObject *self, PyObject *args, PyObject *names) {
    static const char *const keywords[] = {"stream", "max_version", "dl_device", "copy", NULL};
    Wrapper *w = (Wrapper *)self;
    Wishes wishes = {Py_None, Py_None, Py_None, -1};
    if (!PyArg_ParseTupleAndKeywords(args, names, "|$OOOO&:__dlpack__", (char **)(uintptr_t)keywords, &wishes.stream,
                                     &wishes.max_version, &wishes.device, take_copy, &wishes.copy))
        return NULL;
    if (w->v.kind != QS_ARRAY) return raise_error(PyExc_BufferError, "__dlpack__: only arrays have memory"), NULL;
    if (qgil_enter(w->border) < 0) return NULL;
    PyObject *r = export_array(w->border, w->v.u.p, &wishes);
    qgil_leave(w->border);
    return r;
}

PyObject *qdl_device(PyObject *self, PyObject *Py_UNUSED(unused)) {
    Wrapper *w = (Wrapper *)self;
    if (w->v.kind != QS_ARRAY)
        return raise_error(PyExc_BufferError, "__dlpack_device__: only arrays have memory"), NULL;
    if (qgil_enter(w->border) < 0) return NULL;
    DlDevice d = dl_device(qgpu_of(w->border, w->v.u.p));
    qgil_leave(w->border);
    return Py_BuildValue("(ii)", d.type, d.id);
}
