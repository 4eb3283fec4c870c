"""Programs in array style: NumPy, and JAX where it is natural."""
from peers import arrays, peer, d, f, i, field, integers, pattern


@arrays(600, 12, lambda n: (field(n, n),), lambda n: [f(n, n)])
def smooth_steps(np, u):
    def step(u):
        m = u[1:-1, 1:-1]
        return np.put(u, np.s_[1:-1, 1:-1], m + 0.2*(u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4*m))
    return np.repeat_step(20, step, u.copy())


peer("JAX")(smooth_steps)
