% needs: python torch
% devices: one
import "pyquasar.${BITNESS}.${NATIVEEXT}"

function [] = pytorch_sample()

py = pyimport("builtins")
np = pyimport("numpy")
torch = pyimport("torch")
nn = pyimport("torch.nn")
torch.manual_seed(0)

dtype = torch.float32
device = torch.device("cpu")

[N, D_in, H, D_out] = [64, 1000, 100, 10]

% Create random Tensors to hold input and outputs.
x = torch.randn(N, D_in, device:=device, dtype:=dtype)
y = torch.randn(N, D_out, device:=device, dtype:=dtype)

% Create random Tensors for weights.
w1 = torch.randn(D_in, H, device:=device, dtype:=dtype, requires_grad:=pybool(true))
w2 = torch.randn(H, D_out, device:=device, dtype:=dtype, requires_grad:=pybool(true))

learning_rate = 1e-6
relu = pyfunc(nn.ReLU(inplace:=false))
first = 0

for t=1..20 % Iteration
    % Forward pass: compute predicted y using operations
    y_pred = relu(x.mm(w1)).mm(w2)

    % Compute and print loss
    loss = (y_pred - y).pow(2).sum()
    if t == 1
        first = loss.item()
    endif

    % Use autograd to compute the backward pass
    loss.backward()

    % Update weights using gradient descent
    no_grad = torch.no_grad()
    no_grad.enter()
    w1 -= w1.grad * learning_rate
    w2 -= w2.grad * learning_rate
    no_grad.exit()
endfor
print loss.item() < first/10, w1.is_leaf, w2.is_leaf, w1.requires_grad
print torch.is_grad_enabled()
endfunction

pytorch_sample()
