//! Accesses of some lanes without an instruction for them.

use crate::gangs::stages;
use crate::host_code::build;

/// Each lane has a branch neither for what it loads nor for what it stores.
#[test]
fn lanes_that_are_off_go_elsewhere() {
    let module = build(
        "kernel void k(global const uchar *a, global const uint *at, global uchar *out) {
             size_t i = get_global_id(0);
             if (a[i] > 100) out[at[i]] = a[at[i]] + 1;
         }",
        "",
    );
    let [llvm] = stages(&module, 8, ["optimize.ll"]);
    assert!(llvm.contains("%nowhere = alloca i128, align 16"), "{llvm}");
    assert!(llvm.contains("@zeros"), "{llvm}");
    // Loops over groups and gangs, their tails, and the questions whether any lane is on.
    let branches = llvm.lines().filter(|line| line.trim_start().starts_with("br i1")).count();
    assert!(branches < 16, "{branches} branches: {llvm}");
}
