/* loop_leave.c -- decides which statements of a compiled loop the interpreter executes.
 *
 *     for i = 0..n-1
 *         s += x[i]
 *         if mod(i,1000)==0 print(s) end      the code ends here; the interpreter prints, finishes the iteration,
 *     end                                     and enters the code again with the next one
 *
 * A statement that cannot be compiled would leave the whole loop to the interpreter.  If it is in a branch, it may run
 * seldom.  The loop is then lowered again, and ends where the branch reaches the statement, as it does at a `return`:
 * all variables that are read later are stored, and the interpreter continues.  vm/launch/loop_launch.c gives the loop
 * up if it is left too often. */
#include "lang/kernel/lower/loop/loop_internal.h"

bool kloop_is_left(const LoopJob *job, const Node *statement) {
    for (int i = 0; i < job->nleaves; i++)
        if (job->leaves[i].statement == statement) return true;
    return false;
}

/* Whether the block contains the statement in a branch, not in an inner loop.  inside: the block itself is one. */
static bool is_in_branch(NodeList block, const Node *statement, bool inside) {
    for (int i = 0; i < block.n; i++) {
        const Node *n = block.at[i];
        if (n == statement) return inside;
        if (n->kind == N_BLOCK && is_in_branch(n->u.block, statement, inside)) return true;
        for (int k = 0; n->kind == N_IF && k < n->u.ifs.n; k++)
            if (is_in_branch(n->u.ifs.blocks[k], statement, true)) return true;
        if (n->kind == N_IF && n->u.ifs.has_else && is_in_branch(n->u.ifs.other, statement, true)) return true;
        for (int k = 0; n->kind == N_MATCH && k < n->u.match.narms; k++)
            if (is_in_branch(n->u.match.arms[k].body, statement, true)) return true;
    }
    return false;
}

/* The interpreter can continue a `for` only if its counters are integral (LOOP_PAUSED). */
bool kloop_may_leave(const LoopJob *job, const Node *statement) {
    const Node *loop = job->loop;
    bool fits = true;
    for (int i = 0; fits && loop->kind == N_FOR && i < loop->u.loop.nvars; i++) fits = job->range[i].integral;
    return fits && is_in_branch(kquery_body_of(loop), statement, false);
}
