"""Programs in array style: NumPy, and JAX where it is natural."""
from peers import arrays, peer, d, f, f32, i, field, integers, pattern


@arrays(600, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def smooth_steps(np, u):
    def step(u):
        m = u[1:-1, 1:-1]
        return np.put(u, np.s_[1:-1, 1:-1], m + 0.2*(u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4*m))
    return np.repeat_step(20, step, u.copy())


peer("JAX")(smooth_steps)


def erf(np, x):
    """An approximation of the error function, as NumPy has none (error 1.5e-7)."""
    t = 1/(1 + np.float32(0.3275911)*np.abs(x))
    p = np.float32(1.061405429)
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        p = p*t + np.float32(c)
    return np.sign(x)*(1 - p*t*np.exp(-x*x))


@arrays(1000000, 100, lambda n: (10 + 20*pattern(n, 37), 10 + 20*pattern(n, 53), f32(0.25) + 2*pattern(n, 71)),
        lambda n: [f(n), f(n)])
def black_scholes(np, price, strike, time):
    s = np.float32(0.3)*np.sqrt(time)
    a = (np.log(price/strike) + np.float32(0.065)*time)/s
    b = a - s
    discounted = strike*np.exp(np.float32(-0.02)*time)

    def normal(x):
        return np.float32(0.5) + np.float32(0.5)*erf(np, x/np.float32(2**0.5))
    return price*normal(a) - discounted*normal(b), discounted*normal(-b) - price*normal(-a)


peer("JAX")(black_scholes)


@arrays(2000, 12, lambda n: (4*field(n, n),), lambda n: [f(n, n)])
def softmax(np, x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e/np.sum(e, axis=1, keepdims=True)


peer("JAX")(softmax)


@arrays(2500, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def standardize(np, x):
    d = x - np.mean(x, axis=0)
    return d/np.sqrt(np.sum(d**2, axis=0)/x.shape[0])


peer("JAX")(standardize)


@arrays(1000, 20, lambda n: (field(n, 16),), lambda n: [f(n, n)])
def distance_matrix(np, x):
    s = np.sum(x**2, axis=1)
    return np.maximum(s[:, None] + s[None, :] - 2*(x @ x.T), 0)


peer("JAX")(distance_matrix)


@arrays(1500000, 100, lambda n: tuple(pattern(n, a) for a in (37, 53, 71, 91)), lambda n: [f(n)])
def arc_distance(np, a1, b1, a2, b2):
    t = np.sin((a2 - a1)/2)**2 + np.cos(a1)*np.cos(a2)*np.sin((b2 - b1)/2)**2
    return 2*np.arctan2(np.sqrt(t), np.sqrt(1 - t))


peer("JAX")(arc_distance)


@arrays(1500, 44, lambda n: (field(n, n),), lambda n: [f(20)])
def radial_mean(np, x):
    n = x.shape[0]
    k = np.arange(n) - n/2
    r = np.sqrt(k**2 + k[:, None]**2)
    return np.array([np.mean(x[(r >= m) & (r < m+1)]) for m in range(20)])


@arrays(500, 16, lambda n: (n,), lambda n: [f(n, n)], mean=True, tolerance=1e-2)
def mandelbrot_masks(np, n):
    k = np.arange(n, dtype=np.float32)
    cx, cy = np.meshgrid(3*k/n - np.float32(2.25), 3*k/n - np.float32(1.5))
    x, y, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros_like(cx)
    for k in range(50):
        inside = x**2 + y**2 < 4
        steps[inside] += 1
        t = x**2 - y**2 + cx
        y[inside] = (2*x*y + cy)[inside]
        x[inside] = t[inside]
    return steps


@arrays(250, 10, lambda n: (pattern(8*n*n, 37).reshape(8, n, n), pattern(8*8*9, 53).reshape(8, 8, 9) - f32(0.5)),
        lambda n: [f(8, n-2, n-2)])
def convolution_layer(np, x, w):
    n = x.shape[1]
    y = np.zeros((8, n-2, n-2), np.float32)
    for o in range(8):
        s = np.zeros((n-2, n-2), np.float32)
        for c in range(8):
            for k in range(9):
                i, j = k//3, k % 3
                s = s + w[o, c, k]*x[c, i:n-2+i, j:n-2+j]
        y = np.put(y, o, np.maximum(s, 0))
    return y


@arrays(500, 16, lambda n: (field(n, n), field(n, n, 53) - f32(0.5), field(n, n, 71) - f32(0.5),
                            field(n, 10, 91) - f32(0.5)), lambda n: [f(n, 10)], tolerance=1e-3)
def perceptron(np, x, u, v, w):
    h = np.maximum(x @ u + np.float32(0.1), 0)
    h = np.maximum(h @ v/x.shape[1] + np.float32(0.1), 0)
    e = h @ w/10
    e = np.exp(e - np.max(e, axis=1, keepdims=True))
    return e/np.sum(e, axis=1, keepdims=True)


peer("JAX")(perceptron)


@arrays(250, 12, lambda n: (n,), lambda n: [f(n, n), f(n, n), f(n, n)])
def cavity_flow(np, n):
    u, v, p, b = (np.zeros((n, n), np.float32) for k in range(4))
    h = 2/(n - 1)
    dt = h**2
    inside = np.s_[1:-1, 1:-1]
    for t in range(20):
        du = (u[1:-1, 2:] - u[1:-1, :-2])/(2*h)
        dv = (v[2:, 1:-1] - v[:-2, 1:-1])/(2*h)
        b[inside] = (du + dv)/dt - du**2 - dv**2
        for q in range(10):
            p[inside] = (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - h**2*b[inside])/4
            p[:, -1] = p[:, -2]
            p[0] = p[1]
            p[:, 0] = p[:, 1]
            p[-1] = 0
        un, vn = u.copy(), v.copy()
        uc, vc = un[inside], vn[inside]
        u[inside] = (uc - dt/h*(uc*(uc - un[1:-1, :-2]) + vc*(uc - un[:-2, 1:-1]))
                     - dt/(2*h)*(p[1:-1, 2:] - p[1:-1, :-2])
                     + 0.1*dt/h**2*(un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4*uc))
        v[inside] = (vc - dt/h*(uc*(vc - vn[1:-1, :-2]) + vc*(vc - vn[:-2, 1:-1]))
                     - dt/(2*h)*(p[2:, 1:-1] - p[:-2, 1:-1])
                     + 0.1*dt/h**2*(vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4*vc))
        u[-1] = 1
    return u, v, p


@arrays(200000, 30, lambda n: (1 + pattern(n, 37),), lambda n: [f(n)])
def burgers(np, u):
    u = u.copy()
    for t in range(100):
        m = u[1:-1]
        u[1:-1] = m - np.float32(0.1)*m*(m - u[:-2]) + np.float32(0.2)*(u[2:] - 2*m + u[:-2])
        u[0] = u[-2]
        u[-1] = u[1]
    return u


@arrays(450, 12, lambda n: (pattern(16*n*n, 37).reshape(16, n, n),), lambda n: [f(16, n-4, n-4)])
def horizontal_diffusion(np, x):
    lap = (4*x[:, 1:-1, 1:-1] - x[:, 2:, 1:-1] - x[:, :-2, 1:-1] - x[:, 1:-1, 2:] - x[:, 1:-1, :-2])
    fx = lap[:, 1:, 1:-1] - lap[:, :-1, 1:-1]
    fx = np.where(fx*(x[:, 2:-1, 2:-2] - x[:, 1:-2, 2:-2]) > 0, 0, fx)
    fy = lap[:, 1:-1, 1:] - lap[:, 1:-1, :-1]
    fy = np.where(fy*(x[:, 2:-2, 2:-1] - x[:, 2:-2, 1:-2]) > 0, 0, fy)
    return x[:, 2:-2, 2:-2] - np.float32(0.1)*(fx[:, 1:] - fx[:, :-1] + fy[:, :, 1:] - fy[:, :, :-1])


peer("JAX")(horizontal_diffusion)


@arrays(2000, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def tridiagonal(np, b):
    c, x = np.zeros_like(b), np.zeros_like(b)
    n = b.shape[0]
    c[0] = -0.25
    x[0] = b[0]/4
    for i in range(1, n):
        c[i] = -1/(4 + c[i-1])
        x[i] = (b[i] + x[i-1])/(4 + c[i-1])
    for i in range(n-2, -1, -1):
        x[i] = x[i] - c[i]*x[i+1]
    return x


@arrays(3000, 20, lambda n: (field(3, n),), lambda n: [f(3, n)], tolerance=1e-3)
def gravity_matrix(np, p):
    dx, dy, dz = (p[k][None, :] - p[k][:, None] for k in range(3))
    w = (dx**2 + dy**2 + dz**2 + np.float32(0.01))**np.float32(-1.5)
    return np.stack([np.sum(dx*w, axis=1), np.sum(dy*w, axis=1), np.sum(dz*w, axis=1)])


peer("JAX")(gravity_matrix)


@arrays(3000, 20, lambda n: (field(n, n),), lambda n: [f(n, n)])
def trace_tanh(np, a):
    return a + np.sum(np.tanh(np.diagonal(a)))


peer("JAX")(trace_tanh)


@arrays(5000000, 100, lambda n: (integers(n, 1000), integers(n, 1000, 53)), lambda n: [i(n)])
def clip_and_scale(np, a, b):
    return np.clip(a, 200, 700)*3 + b*9 + 7


peer("JAX")(clip_and_scale)


@arrays(400, 14, lambda n: (field(n, n),), lambda n: [f(n, n)])
def correlation_matrix(np, x):
    d = x - np.mean(x, axis=0)
    d = d/np.sqrt(np.sum(d**2, axis=0))
    return d.T @ d


peer("JAX")(correlation_matrix)


@arrays(600, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def wave(np, u):
    def step(state):
        u, before = state
        m = u[1:-1, 1:-1]
        d = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4*m
        next = 2*m - before[1:-1, 1:-1] + np.float32(0.1)*d
        return np.put(u.copy(), np.s_[1:-1, 1:-1], next), u
    return np.repeat_step(20, step, (u, u))[0]


peer("JAX")(wave)


def laplacian(np, x):
    return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4*x


@arrays(400, 12, lambda n: (field(n, n), f32(0.5)*field(n, n, 53)), lambda n: [f(n, n), f(n, n)])
def gray_scott(np, u, v):
    def step(state):
        u, v = state
        r = u*v**2
        return (u + np.float32(0.16)*laplacian(np, u) - r + np.float32(0.035)*(1 - u),
                v + np.float32(0.08)*laplacian(np, v) + r - np.float32(0.1)*v)
    return np.repeat_step(10, step, (u, v))


peer("JAX")(gray_scott)
