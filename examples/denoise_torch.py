#!/usr/bin/env python3
"""Learns to remove noise: a kernel of the language is a layer of a torch model, which torch trains.

The layer is a bilateral filter: each pixel becomes a mean of those around it, weighted by where they are and by how
much they resemble it.  Both weights are learnt, from patches of the photograph of this folder to which noise is added;
q.torch_op derives the derivative of the kernel.

    python3 examples/denoise_torch.py            trains, and writes out/denoised_torch.png
    python3 examples/denoise_torch.py --quick    a few steps, for tests
"""
import math, os, sys

import numpy as np, pyquasar as q, torch

PROGRAM = """
function [] = __kernel__ bilateral(x : mat'mirror, place : mat, range : vec, y : mat, pos : ivec2)
    total = 0.0
    weights = 0.0
    for m = -2..2
        for n = -2..2
            d = range[0]*(x[pos+[m,n]] - x[pos])
            w = exp(place[m+2,n+2] - d*d)
            total += w*x[pos+[m,n]]
            weights += w
        end
    end
    y[pos] = total/weights
end
photograph = path -> mean(float(imread(path)), 2)/255
function [] = save(path, x)
    imwrite(path, uint8(255*x))
end
"""


class Bilateral(torch.nn.Module):
    def __init__(self, filtered):
        super().__init__()
        self.filtered = filtered
        self.place = torch.nn.Parameter(torch.zeros(5, 5))
        self.range = torch.nn.Parameter(torch.tensor([1.0]))

    def forward(self, x):
        return self.filtered(x, self.place, self.range)


def psnr(a, b):
    return -10*math.log10(float(((a - b)**2).mean()))


def main(quick):
    here = os.path.dirname(os.path.abspath(__file__))
    q.init("cpu")
    q.compile_string("denoise", PROGRAM)
    torch.manual_seed(1)
    clean = torch.from_numpy(np.array(q.photograph(os.path.join(here, "images", "astronaut.png"))).squeeze())
    noisy = clean + 0.1*torch.randn_like(clean)
    filtered = q.torch_op(q.bilateral, out="y")
    model = torch.nn.Sequential(*(Bilateral(filtered) for _ in range(3)))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    steps, size = (60, 48) if quick else (200, 96)
    for step in range(steps):
        m, n = (int(torch.randint(extent - size, ())) for extent in clean.shape)
        patch = (slice(m, m + size), slice(n, n + size))
        loss = ((model(noisy[patch]) - clean[patch])**2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % (steps // 4) == 0:
            print("step %d: %.1f dB" % (step + 1, -10*math.log10(loss.item())))
    with torch.no_grad():
        part = (slice(100, 228), slice(150, 278)) if quick else (slice(None), slice(None))
        restored = model(noisy[part])
    before, after = psnr(noisy[part], clean[part]), psnr(restored, clean[part])
    print("noisy %.1f dB, restored %.1f dB" % (before, after))
    if not quick:
        os.makedirs("out", exist_ok=True)
        q.save("out/denoised_torch.png", restored.clamp(0, 1).numpy())
    return before, after


if __name__ == "__main__":
    before, after = main("--quick" in sys.argv)
    sys.exit(after < before + 6)
