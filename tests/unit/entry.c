/* Views of a library's memory that are released where a thread cannot enter the VM: they are freed at its next
 * entry. */
#include "tests/unit/check.h"
#include "vm/api/native_entry.c"

static bool failing;
static qs_status attach(qs_vm *vm, PythonTurn *turn) { return (void)vm, (void)turn, failing ? QS_ENOMEM : QS_OK; }
static void detach(qs_vm *vm, const PythonTurn *turn) { (void)vm, (void)turn; }
static const Python python = {.size = sizeof python, .attach = attach, .detach = detach};

/* An array with elements owned by the test: it is freed when the elements are released. */
static int given_back;
static void give_back(void *unused) { (void)unused, given_back++; }

static qs_view view(Library *l) {
    static double elements[] = {1, 2, 3};
    qs_array_info info = {.dtype = QS_F64, .rank = 1, .dims = {3}, .strides = {8}, .nbytes = sizeof elements};
    Place p = {l->vm, "f", 1, 0};
    qs_value v;
    qs_view out;
    CHECK(qs_array_wrap(l->vm, &info, elements, -1, give_back, NULL, &v) == QS_OK);
    CHECK(view_of(l, &p, v, &out) == QS_OK && out.data == elements);
    return out;
}

int main(void) {
    qs_config c;
    PythonTurn turn;
    Library *l = new_library();
    qs_config_init(&c);
    c.device = "ref";
    CHECK(qs_open(&c, &l->vm) == QS_OK);
    l->ready = true;
    qvm(l->vm)->python = &python;
    qs_view at_once = view(l), late[2] = {view(l), view(l)};
    qs_view_release(&at_once);
    CHECK(given_back == 1);
    failing = true;
    for (int i = 0; i < 2; i++) qs_view_release(&late[i]), CHECK(!late[i].data && !late[i].owner);
    qs_view_release(&late[0]);
    CHECK(given_back == 1);
    CHECK_TEXT(qs_native_error(), "no memory for the stack of another thread\n");
    failing = false;
    CHECK(begin_turn(l, &turn) == QS_OK);
    end_turn(l, &turn);
    CHECK(given_back == 3);
    qvm(l->vm)->python = NULL;
    qs_close(l->vm);
    free(l);
    return check_done();
}
