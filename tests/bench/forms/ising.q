% Metropolis steps of the Ising model, with random numbers of our own.
function s0 = inputs()
    s0 = mod((reshape(0..4095, [64,64])*7919), 3) == 0 ? 1 : -1
end
function s = with_mod(s0)
    s = copy(s0)
    n = size(s, 0)
    seed = 1
    for step = 1..30000
        seed = mod(seed*16807, 2147483647)
        i = mod(seed, n)
        seed = mod(seed*16807, 2147483647)
        j = mod(seed, n)
        around = s[mod(i+1,n),j] + s[mod(i-1,n),j] + s[i,mod(j+1,n)] + s[i,mod(j-1,n)]
        d = 2*s[i,j]*around
        seed = mod(seed*16807, 2147483647)
        if d <= 0 || seed/2147483647 < exp(-0.5*d)
            s[i,j] = -s[i,j]
        end
    end
end
function s = with_circular(s0)
    s : mat'circular = copy(s0)
    n = size(s, 0)
    seed = 1
    for step = 1..30000
        seed = mod(seed*16807, 2147483647)
        i = mod(seed, n)
        seed = mod(seed*16807, 2147483647)
        j = mod(seed, n)
        d = 2*s[i,j]*(s[i+1,j] + s[i-1,j] + s[i,j+1] + s[i,j-1])
        seed = mod(seed*16807, 2147483647)
        if seed/2147483647 < exp(-0.5*d)
            s[i,j] *= -1
        end
    end
end
type generator : mutable class
    seed : scalar
end
function x = next(self : generator)
    self.seed = mod(self.seed*16807, 2147483647)
    x = self.seed
end
function s = with_object(s0)
    s = copy(s0)
    n = size(s, 0)
    g = generator(seed:=1)
    for step = 1..30000
        i = mod(g.next(), n)
        j = mod(g.next(), n)
        up = i == 0 ? n-1 : i-1
        down = i == n-1 ? 0 : i+1
        left = j == 0 ? n-1 : j-1
        right = j == n-1 ? 0 : j+1
        d = 2*s[i,j]*(s[up,j] + s[down,j] + s[i,left] + s[i,right])
        u = g.next()/2147483647
        if d <= 0 || u < exp(-0.5*d)
            s[i,j] = -s[i,j]
        end
    end
end
function s = with_closure(s0)
    s = copy(s0)
    n = size(s, 0)
    seed = 1
    next = s -> mod(s*16807, 2147483647)
    p = exp(-0.5*float64(0..8))
    for step = 1..30000
        seed = next(seed)
        i = mod(seed, n)
        seed = next(seed)
        j = mod(seed, n)
        d = 2*s[i,j]*(s[mod(i+1,n),j] + s[mod(i-1,n),j] + s[i,mod(j+1,n)] + s[i,mod(j-1,n)])
        seed = next(seed)
        u = seed/2147483647
        if d <= 0
            s[i,j] = -s[i,j]
        elseif u < p[d]
            s[i,j] = -s[i,j]
        end
    end
end
function s = with_list(s0)
    s = copy(s0)
    n = size(s, 0)
    seed = 1
    energies = {}
    for step = 1..30000
        seed = mod(seed*16807, 2147483647)
        i = mod(seed, n)
        seed = mod(seed*16807, 2147483647)
        j = mod(seed, n)
        around = s[mod(i+1,n),j] + s[mod(i-1,n),j] + s[i,mod(j+1,n)] + s[i,mod(j-1,n)]
        d = 2*s[i,j]*around
        seed = mod(seed*16807, 2147483647)
        if d <= 0 || seed/2147483647 < exp(-0.5*d)
            s[i,j] = -s[i,j]
        end
        if mod(step, 100) == 0
            energies.append(d)
        end
    end
end
