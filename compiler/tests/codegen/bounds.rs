//! Comparisons of ids with a bound that all lanes share.

use crate::gangs::{compare_at, head};
use lockstep_ir::interp::NdRange;

const COMPARISONS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// Stores a bit for each comparison of an id with the loaded bound, in both orders.
fn text(id: &str) -> String {
    let mut text = head(2) + " region r0 {\n b0(v0: ptr.global, v1: ptr.global):\n";
    text += &format!(" v2: i64 = query.{id} 0\n v3: i64 = load v0 align 8\n v4: i64 = query.global_id 0\n");
    text += " v5: i64 = query.global_offset 0\n v6: i64 = sub v4, v5\n v7: i64 = shl v6, 2\n v8: ptr.global = ptradd v1, v7\n";
    let mut sum = "0:i32".to_string();
    for (n, operands) in ["v2, v3", "v3, v2"].into_iter().enumerate() {
        for (c, comparison) in COMPARISONS.into_iter().enumerate() {
            let bit = 10 * n + c;
            let v = 9 + 4 * bit;
            text += &format!(" v{v}: i1 = icmp.{comparison} {operands}\n v{}: i32 = zext v{v}\n", v + 1);
            text += &format!(" v{}: i32 = shl v{}, {bit}\n v{}: i32 = or v{}, {sum}\n", v + 2, v + 1, v + 3, v + 2);
            sum = format!("v{}", v + 3);
        }
    }
    text + &format!(" store {sum} to v8 align 4\n return\n }}\n}}\n")
}

#[test]
fn every_comparison_at_every_distance() {
    let bounds = [0, 1, 7, 16, 20, 21, 42, 43, 1 << 32, 1 << 63, u64::MAX - 60, u64::MAX - 40, u64::MAX - 1, u64::MAX];
    for (n, bound) in bounds.into_iter().enumerate() {
        for id in ["local_id", "global_id"] {
            for offset in [0, 1 << 63, u64::MAX - 60] {
                let range = NdRange { global_offset: [offset, 0, 0], ..NdRange::new(&[43], &[21]) };
                let buffers = [bound.to_le_bytes().to_vec(), vec![0; 43 * 4]];
                // Each width has its turn.
                let width = [2, 4, 8, 16, 32, 64][n % 6];
                compare_at(&[width, 16], &text(id), range, &buffers);
            }
        }
    }
}
