/* quasar_types.h -- defines the types that all layers share: status, value kind, element type, value.
 *
 * They are separate from quasar.h, which includes them, so that the layers below the VM do not depend on its API.
 * Programs include quasar.h; this file is installed beside it. */
#ifndef QUASAR_TYPES_H
#define QUASAR_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QS_CHECK             __attribute__((warn_unused_result))
#define QS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

typedef struct qs_vm qs_vm; /* one interpreter */

typedef enum { /* returned by every function that can fail; 0 is success */
               QS_OK = 0,
               QS_ESYNTAX,
               QS_ETYPE,
               QS_ESHAPE,
               QS_EINDEX,
               QS_ENAME,
               QS_EVALUE,
               QS_ENOMEM,
               QS_EDEVICE,
               QS_ELOCK,
               QS_EIO,
               QS_EFOREIGN,
               QS_EINTERRUPT,
               QS_EASSERT,
               QS_EUSER,
               QS_EINTERNAL
} qs_status;

/* Values up to QS_NUM are stored in the 16 bytes of qs_value; from QS_COMPLEX on, u.p is a reference-counted object.
 * QS_TRACED is a number whose derivative is being taken; natives and foreign types never receive it. */
typedef enum {
    QS_NIL,
    QS_BOOL,
    QS_INT,
    QS_NUM,
    QS_COMPLEX,
    QS_STRING,
    QS_ARRAY,
    QS_CELL,
    QS_OBJECT,
    QS_FUNCTION,
    QS_TYPE,
    QS_FOREIGN,
    QS_TRACED
} qs_kind;

typedef enum { /* element types, in the order of dtypes.def */
               QS_B1,
               QS_I8,
               QS_U8,
               QS_I16,
               QS_U16,
               QS_I32,
               QS_U32,
               QS_I64,
               QS_U64,
               QS_F16,
               QS_BF16,
               QS_F32,
               QS_F64,
               QS_C64,
               QS_C128
} qs_dtype;

typedef enum { QS_READ = 1, QS_WRITE = 2, QS_READWRITE = 3 } qs_access;

typedef struct { /* 16 bytes, passed in two registers; the fields are private */
    uint32_t kind, aux;
    union {
        double f;
        int64_t i;
        void *p;
    } u;
} qs_value;

enum { QS_MAX_RANK = 8 };

static inline qs_value qs_nil(void) {
    qs_value v = {QS_NIL, 0, {0}};
    return v;
} /* null */
static inline qs_value qs_bool(bool b) {
    qs_value v = {QS_BOOL, 0, {0}};
    v.u.i = b;
    return v;
}
static inline qs_value qs_int(int64_t i) {
    qs_value v = {QS_INT, 0, {0}};
    v.u.i = i;
    return v;
}
static inline qs_value qs_num(double f) {
    qs_value v = {QS_NUM, 0, {0}};
    v.u.f = f;
    return v;
}
static inline qs_kind qs_kind_of(qs_value v) { return (qs_kind)v.kind; }
#endif
