"""The samples of the original PyQuasar manual, part 1 and the torch helpers of part 3, as printed but for the device
(there is a cpu everywhere), the file names, and the backward function, which is written by hand."""
import contextlib, io, os, tempfile, unittest, unittest.mock

import pyquasar as q
from optional import library

np, torch = library("numpy"), library("torch")


@unittest.skipUnless(np, "needs numpy")
class Manual(unittest.TestCase):
    def setUp(self):
        q.destroy()

    def tearDown(self):
        q.destroy()

    def test_vectors(self):
        q.init("cpu")
        a = q.value([5,4,3,2,1]) + q.value(2.0)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            print(a.to_py())
        self.assertEqual(out.getvalue(), "[7. 6. 5. 4. 3.]\n")
        w = q.typename("vec[mat]")(4)
        self.assertEqual(w.typename, "vec[mat]")
        A = q.zeros(20,20,3)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            q.print(A)
            print(A)
        first, second = out.getvalue()[:len(out.getvalue()) // 2], out.getvalue()[len(out.getvalue()) // 2:]
        self.assertEqual(first, second)

    def test_raw_pointers(self):
        q.init("cpu")
        def copy_data_to_dst_pointer(A, dst_ptr, num_bytes):
            ptr = A.lock(q.LOCK_READ, q.MEMRESOURCE_CPU)
            q.memcpy(dst_ptr, ptr, num_bytes)
            A.unlock(q.LOCK_READ, q.MEMRESOURCE_CPU)
        to = np.zeros(3, np.float32)
        copy_data_to_dst_pointer(q.value([1, 2, 3]), to.ctypes.data, to.nbytes)
        self.assertEqual(to.tolist(), [1, 2, 3])

    def test_launching_a_kernel(self):
        kernel_src = """
lerp = __device__ (a,b,c) -> a*c+b*(1-c)

function [] = __kernel__ color_temperature(x : cube, y : cube, temp : scalar, cold : vec3, hot : vec3,
pos : vec2)

    input = x[pos[0],pos[1],0..2]
    if temp<0
        output = lerp(input,cold,(-0.25)*temp)
    else
        output = lerp(input,hot,0.25*temp)
    endif
    y[pos[0],pos[1],0..2] = output

endfunction
"""
        q.init("cpu", load_compiler=1) # 1 to load the compiler (note: libhelios does not provide a compiler)
        q.compile_string("color_temperature", kernel_src)

        def apply(img_in, temp):
            hot = q.value([1,0.2,0]) * 255
            cold = q.value([0.3,0.4,1]) * 255
            img_out = q.zeros(q.size(img_in))
            q.parallel_do(q.size(img_out,[0,1]),img_in, img_out, temp, cold, hot, q.color_temperature)
            return img_out

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, QUASAR_FIGURES=folder):
            here = os.getcwd()
            os.chdir(folder)
            try:
                pixels = np.random.default_rng(1).integers(0, 256, (20, 30, 3)).astype(np.uint8)
                q.imwrite("lena_big.tif", pixels)
                img_in = q.imread("lena_big.tif")
                temp = 1
                img_out = apply(img_in, temp)
                with contextlib.redirect_stdout(io.StringIO()):
                    q.imshow(img_out)
                    q.run_gui()
                self.assertTrue([name for name in os.listdir(".") if name.endswith(".png")])
            finally:
                os.chdir(here)
        np.testing.assert_allclose(img_out.to_py(),
                                   pixels * np.float32(0.25) + np.float32([255, 51, 0]) * np.float32(0.75), atol=1e-3)


@unittest.skipUnless(torch and np, "needs torch and numpy")
class ManualWithTorch(unittest.TestCase):
    def test_a_layer(self):
        q.init("cpu", load_compiler=True)

        def to_tensor(A, device):
            """
            Converts a Quasar matrix to PyTorch Tensor
            """
            assert q.type(A, "cube{:}"), "A : cube{:} expected"
            tensor = torch.tensor((), dtype=torch.float32, device="cpu").new_zeros(tuple(q.size(A).to_py().astype(int)))
            storage = tensor.untyped_storage().cpu()
            ptr = A.lock(q.LOCK_READ, q.MEMRESOURCE_CPU)
            q.memcpy(storage.data_ptr(), ptr, storage.size() * 1)
            A.unlock(q.LOCK_READ, q.MEMRESOURCE_CPU)
            return tensor

        def from_tensor(A):
            """
            Converts a PyTorch tensor to a Quasar matrix
            """
            assert torch.is_tensor(A) and A.dtype == torch.float32, "torch.FloatTensor expected!"
            mtx = q.uninit(list(A.size()))
            storage = A.untyped_storage()
            storage = storage.cpu()
            ptr = mtx.lock(q.LOCK_WRITE, q.MEMRESOURCE_CPU)
            q.memcpy(ptr, storage.data_ptr(), storage.size() * 1)
            mtx.unlock(q.LOCK_WRITE, q.MEMRESOURCE_CPU)
            return mtx

        q.compile_string("layer", """
import "Quasar.CompMath.dll" % Differentiable programming support

% Define the forward mapping function
function y = mapping_forward(a : vec'clamped(256), x : cube)

    y = zeros(size(x))
    for [m,n,p]=0..size(x,0..2)-1
        y[m,n,p] = a[x[m,n,p]]
    endfor

endfunction

% The backward mapping is obtained by algorithmic differentiation
mapping_backward = (a : vec'clamped(256), x : cube, da : cube) -> _

    $diffmul(mapping_forward(a, x), a, da)

""")

        class Mapping(torch.autograd.Function):
            @staticmethod
            def forward(ctx, input, weights):
                ctx.save_for_backward(input, weights)
                result = q.mapping_forward(from_tensor(weights), from_tensor(input))
                return to_tensor(result, None)

            @staticmethod
            def backward(ctx, grad_output):
                input, weights, = ctx.saved_tensors
                assert ctx.needs_input_grad[1] and not ctx.needs_input_grad[0]
                da = q.mapping_backward(from_tensor(weights), from_tensor(input), from_tensor(grad_output))
                return None, to_tensor(da, None)

        N, D_in = 1, 1000
        x = torch.floor(torch.mul(torch.rand(N, D_in), 255))
        y = torch.cos(x) + torch.mul(torch.randn(N, D_in), 0.1)
        w = torch.linspace(0, 255, steps=256, requires_grad=True)
        mapping = Mapping.apply
        learning_rate = 5e-2
        losses = []
        for t in range(100):
            y_pred = mapping(x, w)
            loss = (y_pred - y).pow(2).sum()
            losses.append(loss.item())
            loss.backward()
            with torch.no_grad():
                w -= learning_rate * w.grad
                w.grad.zero_()
        self.assertLess(losses[-1], 0.001 * losses[0])
        q.destroy()


if __name__ == "__main__":
    unittest.main()
