% Denoises a volume that may be larger than memory, block by block, on worker processes: see docs/cluster.md.
%
%     qrun examples/denoise_volume.q              a small one, in this process
%     qrun examples/denoise_volume.q 8 2          8 GB, on two workers of one thread each (Python with dask.distributed)
% devices: cpu
import "cluster.q"

% Each voxel becomes the mean of its 27 neighbours, weighted by how close their values are.
function [] = __kernel__ bilateral(x : cube'mirror, y : cube, scale : scalar, pos : ivec3)
    here = x[pos]
    total = 0.0
    weights = 0.0
    for i = -1..1
        for j = -1..1
            for k = -1..1
                v = x[pos + [i,j,k]]
                w = exp(-((v - here)/scale)^2)
                total += w*v
                weights += w
            end
        end
    end
    y[pos] = total/weights
end

% n slices from slice `first` on: balls in a lattice.
function v = balls(first, n, rows, columns)
    square = (from, count) -> (mod(from..from+count-1, 64) - 32).^2
    r2 = reshape(square(first, n), [n,1,1]) + reshape(square(0, rows), [1,rows,1]) + reshape(square(0, columns), [1,1,columns])
    v = float(r2 < 24^2)
end

% The mean squared error of a file, slice by slice.
function e = error_of(path, dims, step)
    e = 0
    for z = 0..step..dims[0]-1
        n = min(step, dims[0] - z)
        e += sum((read_block(path, [z,0,0], [n,dims[1],dims[2]]) - balls(z, n, dims[1], dims[2])).^2)
    end
    e = e/prod(float64(dims))
end

function [] = main(gigabytes = 0.01, workers = 0, folder : string = "out")
    gigabytes = isstring(gigabytes) ? str2num(gigabytes) : gigabytes
    workers = isstring(workers) ? str2num(workers) : workers
    side = gigabytes < 0.1 ? 128 : 1024
    dims = [max(1, round(gigabytes*1e9/4/side^2)), side, side]
    noisy = strcat(folder, "/noisy.npy")
    clean = strcat(folder, "/denoised.npy")
    makedir(folder)
    npy_create(noisy, dims)
    randseed(1)
    step = 16
    for z = 0..step..dims[0]-1
        n = min(step, dims[0] - z)
        write_block(noisy, [z,0,0], balls(z, n, side, side) + 0.1*randn(n, side, side))
    end
    if workers > 0
        cluster_open(workers)
    end
    start = time()
    cluster_map(bilateral, noisy, [32,256,side], args:={0.5}, into:=clean, text:=workers > 0 ? "denoising" : "")
    seconds = time() - start
    cluster_close()
    if workers > 0
        printf("%.1f s with %d workers, %.1f million voxels a second", seconds, workers, prod(float64(dims))/seconds/1e6)
    end
    before = error_of(noisy, dims, step)
    after = error_of(clean, dims, step)
    printf("error %.5f, after it %.5f", before, after)
    assert(after < before/8)
end
