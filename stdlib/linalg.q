% Module: linalg.q
% Linear algebra is built in: svd, symeig, eig, inv, pinv, det, logdet, solve, linsolve, chol, qr, rank, cond, trace, diagm.
% This file makes `import "linalg.q"` work.
