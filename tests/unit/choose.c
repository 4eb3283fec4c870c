/* The choice of a device by `auto`, on two devices with given rates, costs and bandwidth: one shares the host's memory,
 * the other has its own and works asynchronously.  Kernels do nothing, arrays do move, and time is simulated, so every
 * figure here is the same on every computer. */
#include "tests/support/mock_device.h"
#include "tests/unit/check.h"
#include "vm/launch/run.h"
#include "vm/quasar.h"

#include <time.h>

enum { NEAR, FAR };

/* In nanoseconds: the cost of a position of `work`, and of one of `other`, which is recognized by its odd number of
 * positions; of a launch; of a byte that moves. */
typedef struct {
    double work[2], other[2], launch[2], byte;
} World;

static World world;
static double now, busy_until; /* the far device works asynchronously; waiting advances the clock to its end */
static unsigned launches[2];

/* The clock of all code that is linked here. */
int clock_gettime(clockid_t id, struct timespec *t) {
    (void)id;
    *t = (struct timespec){.tv_sec = (time_t)(now / 1e9), .tv_nsec = (long)(now - (double)(time_t)(now / 1e9) * 1e9)};
    return 0;
}

/* -- the devices --------------------------------------------------------------------------------------------------- */
static double time_on(int device, const Launch *l) {
    double n = (double)l->domain[0];
    return world.launch[device] + n * (l->domain[0] % 2 ? world.other : world.work)[device];
}

static double later(double a, double b) { return a > b ? a : b; }

static qs_status launch_near(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    (void)d, (void)p, (void)nargs, (void)args, (void)fault;
    now += time_on(NEAR, l);
    launches[NEAR]++;
    return QS_OK;
}

static qs_status launch_far(Device *d, Program *p, const Launch *l, int nargs, const DevArg *args, DevFault *fault) {
    now += 1e3; /* to queue it */
    busy_until = later(now, busy_until) + time_on(FAR, l);
    launches[FAR]++;
    return mock_device_ops.launch(d, p, l, nargs, args, fault);
}

static qs_status sync_far(Device *d) {
    now = later(now, busy_until);
    return mock_device_ops.sync(d);
}

static qs_status upload_far(Device *d, DevPtr to, size_t off, const void *from, size_t n) {
    now = later(now, busy_until) + (double)n * world.byte;
    return mock_device_ops.upload(d, to, off, from, n);
}

static qs_status download_far(Device *d, void *to, DevPtr from, size_t off, size_t n) {
    now = later(now, busy_until) + (double)n * world.byte;
    return mock_device_ops.download(d, to, from, off, n);
}

static qs_vm *open_machine(int device) {
    static DeviceOps near_ops, far_ops;
    qs_config c;
    qs_vm *vm = NULL;
    near_ops = qdev_ref_ops, near_ops.launch = launch_near;
    far_ops = mock_device_ops, far_ops.load = qdev_ref_ops.load, far_ops.unload = qdev_ref_ops.unload;
    far_ops.launch = launch_far, far_ops.sync = sync_far, far_ops.upload = upload_far, far_ops.download = download_far;
    qs_config_init(&c);
    c.device = "ref", c.cache_dir = "";
    CHECK(qs_open(&c, &vm) == QS_OK && qs_device_count(vm) == 1);
    Machine *m = qvm(vm);
    m->devices[NEAR].ops = &near_ops;
    m->devices[FAR] = (Device){.ops = &far_ops, .ctx = &m->base, .memory = 2, .stop = &m->interrupted};
    CHECK(far_ops.open(&m->devices[FAR], 0) == QS_OK);
    m->ndevices = 2;
    m->automatic = device < 0;
    m->device = &m->devices[device < 0 ? NEAR : device];
    now = busy_until = 0, launches[NEAR] = launches[FAR] = 0;
    return vm;
}

/* -- programs ------------------------------------------------------------------------------------------------------ */
static const char program[] =
    "function [] = __kernel__ work(x : vec, y : vec, pos : int)\n y[pos] = 0.5*y[pos] + x[pos]\nend\n"
    "function [] = __kernel__ other(x : vec, y : vec, pos : int)\n y[pos] += x[pos]\nend\n"
    "n = 262144\nx = ones(n)\ny = ones(n)\nz = ones(n)\nu = ones(8)\nv = ones(8)\n"
    "function [] = plain(k)\n parallel_do(n, x, y, work)\nend\n"
    "function [] = little(k)\n parallel_do(8, u, v, work)\nend\n"
    "function [] = reads(k)\n parallel_do(n, x, y, work)\n t = y[0]\nend\n"
    "function [] = writes(k)\n x[0] = k\n parallel_do(n, x, y, work)\nend\n"
    "function [] = sizes(k)\n parallel_do(n, x, y, work)\n for i = 1..9\n  parallel_do(8, u, v, work)\n end\nend\n"
    "function [] = apart(k)\n parallel_do(n, x, y, work)\n parallel_do(n - 1, z, z, other)\nend\n"
    "function [] = shared(k)\n parallel_do(n, x, y, work)\n parallel_do(n - 1, y, x, other)\nend\n"
    "function [] = run(times, step)\n for k = 1..times\n  step(k)\n end\n sync()\nend\n";

enum { ROUNDS = 4000 };
static const double most_trials = 6e8; /* possible loss until a device is known: trials wait for it, as documented */
static const double target = 1.2;

typedef struct {
    const char *step;
    World world, then; /* the next program, before the ROUNDS rounds in which auto adapts */
    bool changes;
    double after; /* upper bound of auto's time for ROUNDS rounds, relative to the best device's */
    int mostly;   /* the device of most launches then */
} Case;

static double time_of(qs_vm *vm, const char *step) {
    char text[100];
    double before = now;
    snprintf(text, sizeof text, "run(%d, %s)", ROUNDS, step);
    CHECK(qs_eval(vm, text, NULL) == QS_OK);
    return now - before;
}

typedef struct {
    double start, after;
    unsigned launches[2];
} Times;

static Times measure(int device, const Case *c) {
    Times t;
    world = c->world;
    qs_vm *vm = open_machine(device);
    CHECK(qs_load(vm, "choose.q", program, sizeof program - 1) == QS_OK);
    now = busy_until = 0;
    t.start = time_of(vm, c->step);
    if (c->changes) world = c->then;
    time_of(vm, c->step);
    memset(launches, 0, sizeof launches);
    t.after = time_of(vm, c->step);
    memcpy(t.launches, launches, sizeof launches);
    qs_close(vm);
    return t;
}

static double least(double a, double b) { return a < b ? a : b; }

static void compare(const Case *c) {
    Times near = measure(NEAR, c), far = measure(FAR, c), both = measure(-1, c);
    double best = least(near.after, far.after), start = least(near.start, far.start);
    bool good = both.after <= c->after * best && both.start <= target * start + most_trials &&
                both.launches[c->mostly] >= both.launches[!c->mostly];
    CHECK(good);
    printf("%s%-7s near %8.4g ms, far %8.4g ms, auto %8.4g ms: %.3f of the best; %u launches near, %u far\n",
           good ? "  " : "! ", c->step, near.after / 1e6, far.after / 1e6, both.after / 1e6, both.after / best,
           both.launches[NEAR], both.launches[FAR]);
}

int main(void) {
    static const World fast_far = {{80, 4}, {80, 4}, {1e3, 2e4}, 0.25},
                       fast_near = {{4, 80}, {4, 80}, {1e3, 2e4}, 0.25},
                       slow_link = {{8, 0.4}, {8, 0.4}, {1e3, 2e4}, 4}, divided = {{80, 4}, {4, 80}, {1e3, 2e4}, 0.25};
    static const Case cases[] = {
        {.step = "plain", .world = fast_far, .after = 1.05, .mostly = FAR},
        {.step = "plain", .world = fast_near, .after = 1.05, .mostly = NEAR},
        {.step = "little", .world = fast_far, .after = 1.05, .mostly = NEAR}, /* the launch dominates the cost */
        {.step = "reads", .world = fast_far, .after = 1.05, .mostly = FAR},
        {.step = "reads", .world = slow_link, .after = 1.05, .mostly = NEAR}, /* returning costs more than it saves */
        {.step = "writes", .world = slow_link, .after = 1.05, .mostly = NEAR},
        {.step = "plain", .world = slow_link, .after = 1.05, .mostly = FAR}, /* but data that were moved stay there */
        {.step = "sizes", .world = fast_far, .after = 0.9, .mostly = NEAR},  /* each on its best device */
        {.step = "apart", .world = divided, .after = 0.1, .mostly = NEAR},
        {.step = "shared", .world = divided, .after = 0.2, .mostly = FAR},
        {.step = "plain", .world = fast_far, .changes = true, .then = fast_near, .after = target, .mostly = NEAR},
        {.step = "plain", .world = fast_near, .changes = true, .then = fast_far, .after = target, .mostly = FAR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) compare(&cases[i]);
    return check_done();
}
