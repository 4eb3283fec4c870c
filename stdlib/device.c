/* device.c -- implements the functions on devices. */
#include "stdlib/builtins.h"
#include "vm/launch/launch.h"

#include <string.h>

static qs_status fill_fields(qs_vm *vm, Object *o, const qs_device_info *d) {
    qs_value name, kind;
    TRY(qs_string(vm, d->name, strlen(d->name), &name));
    TRY(qarg_set_field(vm, o, "name", name));
    TRY(qs_string(vm, d->kind, strlen(d->kind), &kind));
    TRY(qarg_set_field(vm, o, "kind", kind));
    TRY(qarg_set_field(vm, o, "id", qs_num(d->id)));
    TRY(qarg_set_field(vm, o, "memory", qs_num((double)d->memory)));
    return qarg_set_field(vm, o, "current", qs_bool(qdevices_used(vm) == d->id));
}

static qs_status describe_device(qs_vm *vm, int index, qs_value *out) {
    Object *o = NULL;
    qs_device_info d;
    if (!qs_device(vm, index, &d)) return qs_fail(vm, QS_EINTERNAL, "devices: device %d went away", index);
    TRY(qobj_new(vm, NULL, &o));
    qs_status s = fill_fields(vm, o, &d);
    if (s != QS_OK) return qval_release(vm, qval_object(QS_OBJECT, o)), s;
    *out = qval_object(QS_OBJECT, o);
    return QS_OK;
}

qs_status qdevice_devices(qs_vm *vm, qs_call_args *c) {
    qs_value item[MAX_DEVICES];
    Device *first;
    int n = 0;
    TRY(qdevices_get(vm, 0, &first));
    qs_status s = QS_OK;
    while (s == QS_OK && n < qs_device_count(vm))
        if ((s = describe_device(vm, n, &item[n])) == QS_OK) n++;
    if (s == QS_OK) s = qs_cell(vm, n, item, &c->out[0]);
    while (n) qs_release(vm, item[--n]);
    return s;
}

static qs_status number_of(qs_vm *vm, const char *fn, qs_value v, int *out) {
    double x = qval_number(v);
    if (!(x >= 0 && x < MAX_DEVICES && x == (double)(int)x))
        return qs_fail(vm, QS_EVALUE, "%s: device must be a number of devices(), got %g", fn, x);
    *out = (int)x;
    return QS_OK;
}

/* Returns the number of the current device, or "auto"; use_device accepts both. */
static qs_status current(qs_vm *vm, qs_value *out) {
    Device *first;
    TRY(qdevices_get(vm, 0, &first));
    int used = qdevices_used(vm);
    if (used < 0) return qs_string(vm, "auto", 4, out);
    *out = qs_num(used);
    return QS_OK;
}

static qs_status select_device(qs_vm *vm, qs_value wanted) {
    const char *name;
    size_t n;
    int index = 0;
    if (!qval_is_number(wanted)) {
        TRY(qarg_string(vm, "use_device", "device", wanted, &name, &n));
        return qdevices_use_named(vm, name);
    }
    TRY(number_of(vm, "use_device", wanted, &index));
    return qdevices_use(vm, index);
}

qs_status qdevice_use(qs_vm *vm, qs_call_args *c) {
    qs_value before;
    TRY(current(vm, &before));
    qs_status s = select_device(vm, c->in[0]);
    if (s != QS_OK) return qs_release(vm, before), s;
    c->out[0] = before;
    return QS_OK;
}

qs_status qdevice_sync(qs_vm *vm, qs_call_args *c) {
    int index = -1;
    if (!qarg_given(c, 0)) return qdevices_sync(vm, -1);
    if (!qval_is_number(c->in[0]))
        return qs_fail(vm, QS_ETYPE, "sync: device must be a number, got %s", qval_type_name(vm, c->in[0]));
    TRY(number_of(vm, c->name, c->in[0], &index));
    return qdevices_sync(vm, index);
}
