% Module: cluster.q
% Arrays larger than memory, block by block: in this process, or by the workers of Dask.  See docs/cluster.md.

cluster_state = object()
cluster_state.workers = null

% Function: cluster_open
% From now on blocks are computed by workers, until cluster_close; a cluster that is open is closed.
%
% Parameters:
% address - the address of a Dask scheduler, "tcp://host:8786", or a number of worker processes on this machine
% threads - that a block may use, in each worker
% device - where the workers compute, as in init of Python: "cpu", "cuda"; of several GPUs each worker takes one
function [] = cluster_open(address, threads : int = 1, device : string = "cpu")
    cluster_close()
    try
        library = pyimport("pyquasar._cluster")
    catch e
        error("cluster_open: Python with the package pyquasar is wanted: ", e)
    end
    [none, precision] = block_size(zeros(1))
    cluster_state.workers = library.Workers(address, pyint(threads), device, precision)
end

% Function: cluster_close
% Blocks are computed in this process again; workers that cluster_open has started end.
function [] = cluster_close()
    if !isnull(cluster_state.workers)
        workers = cluster_state.workers
        cluster_state.workers = null
        workers.close()
    end
end

% -- stores: an array, a .npy file, or an object that Python opens -----------------------------------------------------

function r = cluster_is_foreign(x)
    r = isstring(x) && !endswith(x, ".npy")
end

function s = cluster_foreign(path)
    s = pyimport("pyquasar._cluster").store(path)
end

function [dims, element] = cluster_size(x)
    if cluster_is_foreign(x)
        s = cluster_foreign(x)
        dims = float64(s.dims())
        element = s.element()
    else
        [dims, element] = block_size(x)
        dims = float64(dims)
    end
end

% Reads the part of a file that a block with its border covers, and adds the border outside the file.
function b = cluster_read_foreign(path, from, count, mode)
    s = cluster_foreign(path)
    dims = float64(s.dims())
    first = max(from, 0)
    last = min(from + count, dims)
    if mode == "circular" && (sum(from < 0) + sum(from + count > dims)) > 0
        first = 0*dims
        last = dims
        for d = 0..numel(dims)-1
            if from[d] >= 0 && from[d] + count[d] <= dims[d]
                first[d] = from[d]
                last[d] = from[d] + count[d]
            end
        end
    end
    b = read_block(s.read(first, last).from_py(), from - first, count, mode)
end

function b = cluster_read(x, from, count, mode)
    if cluster_is_foreign(x)
        b = cluster_read_foreign(x, from, count, mode)
    else
        b = read_block(x, from, count, mode)
    end
end

function [] = cluster_write(x, from, y, skip, count)
    if cluster_is_foreign(x)
        cluster_foreign(x).write(from, read_block(y, skip, count))
    else
        write_block(x, from, y, skip, count)
    end
end

% -- one block ----------------------------------------------------------------------------------------------------------

function [from, count] = cluster_place(job, i)
    from = 0*job.dims
    for d = numel(job.dims)-1..-1..0
        from[d] = job.block[d]*mod(i, job.blocks[d])
        i = floor(i/job.blocks[d])
    end
    count = min(job.block, job.dims - from)
end

% Returns position and size of block i with its border, which mode "none" clips to x.
function [from, count] = cluster_shown(job, i)
    [at, n] = cluster_place(job, i)
    from = at - job.halo
    last = at + n + job.halo
    if job.mode == "none"
        from = max(from, 0)
        last = min(last, job.dims)
    end
    count = last - from
end

function b = cluster_given(job, x, i)
    [from, count] = cluster_shown(job, i)
    b = cluster_read(x, from, count, job.mode == "none" ? "safe" : job.mode)
end

% A job is passed through Python, where a list of numbers would become an array; therefore its arguments are fields.
function [] = cluster_keep(job, args)
    job.nargs = numel(args)
    for k = 0..numel(args)-1
        setfield(job, sprintf("arg%d", k), args[k])
    end
end

function args = cluster_args(job)
    args = cell(1, job.nargs)
    for k = 0..job.nargs-1
        args[k] = getfield(job, sprintf("arg%d", k))
    end
end

% Returns the access range of the kernels that f launches, along each dimension, and the result of f.
function [n, y] = cluster_look(job, b)
    [n, how, y] = apply(halo, horzcat({job.f, b}, cluster_args(job)))
    for mode = how
        if mode != "safe" && mode != "mirror" && mode != "reflect" && mode != "clamped"
            error("cluster_map: f launches a kernel that reads around its position with access mode '", mode, _
                  ", so halo and mode have to be given")
        end
    end
    n = cluster_reach(job, n)
end

function y = cluster_apply(job, b)
    if job.is_kernel
        y = uninit_like(b)
        apply(parallel_do, horzcat({size(b), b, y}, cluster_args(job), {job.f}))
    elseif job.looks
        [n, y] = cluster_look(job, b)
        if sum(n > job.halo) > 0
            error("cluster_map: f launches kernels that read ", n, " elements around a position in this block, and ", job.halo, _
                  " in the first one, so halo and mode have to be given")
        end
    else
        y = apply(job.f, horzcat({b}, cluster_args(job)))
    end
end

function [] = cluster_check(job, b, y)
    if numel(b) != numel(y) || max(size(b, 0..7) != size(y, 0..7))
        error("cluster_map: f was given a block of size ", size(b), ", and a result of that size is wanted, got ", _
              isnumeric(y) && numel(y) > 1 ? size(y) : type(y))
    end
end

% Computes the result of block i without its border; null if it was written.  given: the block; null: it is read here.
function r = cluster_part(job, i, given)
    b = isnull(given) ? cluster_given(job, job.source, i) : given
    y = cluster_apply(job, b)
    [from, count] = cluster_place(job, i)
    r = null
    if job.reduces
        r = y
    else
        cluster_check(job, b, y)
        [shown, all] = cluster_shown(job, i)
        if isnull(job.target)
            r = read_block(y, from - shown, count)
        else
            cluster_write(job.target, from, y, from - shown, count)
        end
    end
end

% -- options of a call -------------------------------------------------------------------------------------------------

function v = cluster_numbers(fn, what, x, dims, otherwise)
    v = float64(copy(dims))
    if isnull(x)
        v[:] = otherwise
    else
        x = startswith(type(x), "vec") ? float64(x) : float64(x)*ones(1, numel(dims))
        if numel(x) > numel(dims)
            error(fn, ": ", what, " has ", numel(x), " numbers, x has ", numel(dims), " dimensions")
        end
        v[:] = otherwise
        v[0..numel(x)-1] = x
    end
    if sum(v != floor(v)) + sum(v < 0) > 0
        error(fn, ": ", what, " must be integers ≥ 0, got ", v)
    end
end

% Returns blocks of about 64 MB, divided along the first dimension.
function block = cluster_default(dims)
    block = copy(dims)
    block[0] = min(dims[0], max(1, floor(2^24*dims[0]/max(prod(dims), 1))))
end

% Checks that a kernel reads only its first argument in blocks, and writes only the second one.
function [] = cluster_check_roles(fn, how)
    if how[0] == "table" || how[0] == "written" || how[0] == "changed" || how[1] != "written"
        error(fn, ": a kernel reads its first argument around its position, and writes its second one")
    end
    for k = 2..numel(how)-1
        if how[k] != "" && how[k] != "table"
            error(fn, ": the kernel reads or writes argument ", k, " at its position, but only the first one comes in blocks")
        end
    end
end

% Calls halo on a kernel, for Python, which passes the arguments as a list.
function [n, how] = cluster_roles(arguments)
    [n, how] = apply(halo, arguments)
    cluster_check_roles("dask_op", how)
end

% Returns the access range of kernels along each dimension of x; n is empty for a function that launches no kernel.
function halo = cluster_reach(job, n)
    row = numel(n) == 1 && numel(job.dims) == 2 && job.dims[0] == 1    % a vec is 1xN
    for d = numel(n)..numel(job.dims)-1
        if numel(n) > 0 && !row && job.block[d] < job.dims[d]
            error("cluster_map: the positions of the kernel have ", numel(n), " dimensions, and blocks may be cut along these only")
        end
    end
    halo = cluster_numbers("cluster_map", "halo", row ? [0,n[0]] : numel(n) == 0 ? null : n, job.dims, 0)
end

function [] = cluster_kernel(job, mode)
    one = min(job.dims, 3)
    x = cluster_read(job.source, 0*job.dims, one, "safe")
    [n, how] = apply(halo, horzcat({job.f, x, uninit_like(x)}, cluster_args(job)))
    if numel(n) < numel(one)    % dimensions that are not divided need their full extents
        one[numel(n)..numel(one)-1] = job.dims[numel(n)..numel(one)-1]
        x = cluster_read(job.source, 0*job.dims, one, "safe")
        [n, how] = apply(halo, horzcat({job.f, x, uninit_like(x)}, cluster_args(job)))
    end
    cluster_check_roles("cluster_map", how)
    job.halo = cluster_reach(job, n)
    own = how[0] == "" ? "safe" : how[0]
    if max(n) > 0 && (own == "unchecked" || own == "checked")
        error("cluster_map: the kernel reads around its position without an access mode, which says what is outside")
    end
    if !isnull(mode) && max(n) > 0 && mode != own
        error("cluster_map: mode is ", mode, ", but the kernel reads its argument as '", own)
    end
    job.mode = own == "unchecked" || own == "checked" ? "safe" : own
end

% first: result of the first block, if f had to be run to determine its halo, and the halo is 0; otherwise null.
function [job, first] = cluster_job(fn, f, x, block, halo, mode, args)
    job = object()
    first = null
    job.f = f
    job.is_kernel = type(f) == "kernel_function"
    job.source = x
    job.target = null
    cluster_keep(job, args)
    job.reduces = false
    [dims, element] = cluster_size(x)
    job.dims = dims
    job.block = isnull(block) ? cluster_default(dims) : min(cluster_numbers(fn, "block", block, dims, dims), max(dims, 1))
    if min(job.block) < 1
        error(fn, ": block must be ≥ 1 along each dimension, got ", job.block)
    end
    job.blocks = ceil(dims./job.block)
    job.mode = isnull(mode) ? "safe" : mode
    job.halo = cluster_numbers(fn, "halo", halo, dims, 0)
    if job.is_kernel
        if !isnull(halo)
            error(fn, ": the halo of a kernel follows from its code; null is wanted")
        end
        cluster_kernel(job, mode)
    end
    job.looks = fn == "cluster_map" && !job.is_kernel && isnull(halo)
    if job.looks
        b = cluster_read(x, 0*dims, job.block, "safe")
        [job.halo, y] = cluster_look(job, b)
        job.mode = isnull(mode) ? "none" : mode
        if sum(job.halo) == 0
            cluster_check(job, b, y)
            first = y
        end
    end
    if !isnull(cluster_state.workers)
        cluster_state.workers.check_room(prod(job.block + 2*job.halo), element)
    end
    wide = job.halo > job.block && job.block < dims
    if sum(wide) > 0
        error(fn, ": a halo of ", job.halo, " is larger than a block of ", job.block, ", so the neighbours of a block are not enough")
    end
end

% Creates the result y; the first block, whose type it has, is computed here.
function y = cluster_target(job, into, first)
    first = isnull(first) ? cluster_part(job, 0, null) : first
    [from, count] = cluster_place(job, 0)
    if isnull(into)
        y = zeros_like(first, int(job.dims))
    else
        y = into
        [none, element] = block_size(first)
        if cluster_is_foreign(into)
            pyimport("pyquasar._cluster").create(into, job.dims, element, job.block)
        else
            npy_create(into, job.dims, element)
        end
    end
    cluster_write(y, from, first, 0*from, count)
end

% -- all blocks ---------------------------------------------------------------------------------------------------------

% Calls done(i, result) for each block from `first` on, in the order of completion; for reductions in the order of the
% blocks.
function [] = cluster_run(job, first, text, done)
    n = prod(job.blocks)
    x = job.source
    ready = first
    if isnull(cluster_state.workers)
        for i = first..n-1
            done(i, cluster_part(job, i, null))
            ready += 1
            if text != ""
                progress(ready, n, text)
            end
        end
    else
        job.source = isstring(x) ? abspath(x) : null % a worker has its own current folder
        job.target = isstring(job.target) ? abspath(job.target) : job.target
        given = i -> isstring(x) ? null : cluster_given(job, x, i)
        for item = cluster_state.workers.results(cluster_part, job, first, n, given, job.reduces)
            done(item[0], item[1])
            ready += 1
            if text != ""
                progress(ready, n, text)
            end
        end
    end
end

% Function: cluster_map
% f of every block of x, put together.
%
% Parameters:
% f - a kernel f(x, y, args…, pos), or a function y = f(x, args…) that gives a result of the size of its block
% x - an array, or the path of a file: .npy, .zarr, .tif
% block - how large a block is along the first dimensions, [64,64]; a number is for all; null: about 64 MB
% halo - how many elements of its neighbours a block shows at each side, likewise; of a kernel it is known; null, of a
%        function: what the kernels that it launches read (halo), and mode is "none"
% mode - what is outside of x: "safe" (0), "mirror", "reflect", "circular" or "clamped"; "none": blocks end where x ends; of a kernel it is its own
% args - a cell of further arguments of f
% into - the path of a file that takes the result; null: an array
% text - what the progress line says; "": none is shown
%
% Returns:
% the array, or the path
function y = cluster_map(f, x, block = null, halo = null, mode = null, args = {}, into = null, text : string = "")
    if isstring(x) && isstring(into) && samefile(x, into)
        error("cluster_map: into is the file that is read, ", x)
    end
    [job, first] = cluster_job("cluster_map", f, x, block, halo, mode, args)
    y = cluster_target(job, into, first)
    job.target = into
    cluster_run(job, 1, text, (i, part) -> cluster_put(job, y, i, part))
end

function [] = cluster_put(job, y, i, part)
    if !isnull(part)
        [from, count] = cluster_place(job, i)
        write_block(y, from, part)
    end
end

% Function: cluster_reduce
% combine(… combine(combine(f(block 0), f(block 1)), f(block 2)) …): in the order of the blocks, whoever is ready first.
% Behind a slow block the others wait before results pile up.
%
% Parameters:
% f - a function of a block, f(x, args…)
% combine - a function of two results of f
% x, block, args, text - as those of cluster_map
function r = cluster_reduce(f, combine, x, block = null, args = {}, text : string = "")
    if type(f) == "kernel_function"
        error("cluster_reduce: f is a function of a block, got a kernel")
    end
    job = cluster_job("cluster_reduce", f, x, block, null, null, args)
    job.reduces = true
    state = object()
    cluster_run(job, 0, text, (i, part) -> cluster_take(state, combine, i, part))
    r = state.result
end

function [] = cluster_take(state, combine, i, part)
    state.result = i == 0 ? part : combine(state.result, part)
end
