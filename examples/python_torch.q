% needs: python torch
% devices: one
% Training a small network with PyTorch: two layers learn a sine.

torch = pyimport("torch")
nn = pyimport("torch.nn")
np = pyimport("numpy")

function [] = main()
    torch.manual_seed(1)
    x = torch.from_numpy((-3..0.05..3).to_py()).reshape(-1,1)
    y = torch.sin(x)

    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    optimiser = torch.optim.Adam(net.parameters(), lr:=0.01)
    loss_of = nn.MSELoss()

    first = 0
    for epoch = 1..500
        loss = loss_of(net(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if epoch == 1
            first = loss.item()
        end
        if mod(epoch, 100) == 0
            printf("epoch %d: loss %.6f", epoch, loss.item())
        end
    end
    assert(loss.item() < first/100, "the loss must fall")

    % What the network has learnt is a function of the language from here on.
    no_grad = torch.no_grad()
    no_grad.enter()
    f = v -> from_py(net(torch.from_numpy(v.to_py()).reshape(-1,1)).flatten().numpy())
    z = f([0, 1, 2])
    no_grad.leave()
    printf("sin(1) is about %.2f", z[1])
    assert(abs(z[1] - sin(1)) < 0.05)
end
