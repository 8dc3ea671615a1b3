//! The rules: one identity a line.
//!
//! A rule may always be applied where its left side stands: the right side is what the left one computes, or a value that it
//! may be where it is poison or undefined. So the right side names no value more often than the left one, and has fewer
//! operations. Operands of operations that commute, and of comparisons, may stand either way round. Floats get no rules but
//! those of their bits: products with one and sums with zero quiet NaN, and flush denormals where the mode does.
//!
//! To add an identity, add its line, and a line to a file of `filetests/simplify`. `tests.rs` proves it on corner values and
//! random ones.

use super::pattern::{Number, Op, Pattern, Rule, pattern, rules};

/// What holds everywhere.
pub static RULES: &[Rule] = rules! {
    // Sums and differences.
    (add x 0) => x;
    (sub x 0) => x;
    (sub x x) => 0;
    (add (sub x y) y) => x;
    (sub (add x y) y) => x;
    (sub x (sub x y)) => y;
    (sadd_sat x 0) => x;
    (uadd_sat x 0) => x;
    (uadd_sat x ones) => ones;
    (ssub_sat x 0) => x;
    (ssub_sat x x) => 0;
    (usub_sat x 0) => x;
    (usub_sat x x) => 0;
    (usub_sat x ones) => 0;
    (usub_sat 0 x) => 0;

    // Products and quotients.
    (mul x 0) => 0;
    (mul x 1) => x;
    (udiv x 1) => x;
    (udiv x x) => 1;
    (udiv 0 x) => 0;
    (sdiv x 1) => x;
    (sdiv x x) => 1;
    (sdiv 0 x) => 0;
    (urem x 1) => 0;
    (urem x x) => 0;
    (urem 0 x) => 0;
    (srem x 1) => 0;
    (srem x ones) => 0;
    (srem x x) => 0;
    (srem 0 x) => 0;

    // Bits.
    (and x 0) => 0;
    (and x ones) => x;
    (and x x) => x;
    (and x (xor x ones)) => 0;
    (and x (or x y)) => x;
    (and (and x y) y) => (and x y);
    (or x 0) => x;
    (or x ones) => ones;
    (or x x) => x;
    (or x (xor x ones)) => ones;
    (or x (and x y)) => x;
    (or (or x y) y) => (or x y);
    (xor x 0) => x;
    (xor x x) => 0;
    (xor (xor x y) y) => x;
    (bswap (bswap x)) => x;
    (bitreverse (bitreverse x)) => x;

    // Shifts.
    (shl x 0) => x;
    (shl 0 x) => 0;
    (lshr x 0) => x;
    (lshr 0 x) => 0;
    (ashr x 0) => x;
    (ashr 0 x) => 0;
    (ashr ones x) => ones;
    (fshl x y 0) => x;
    (fshr x y 0) => y;

    // The least and the greatest.
    (smin x x) => x;
    (smin x least) => least;
    (smin x greatest) => x;
    (smax x x) => x;
    (smax x least) => x;
    (smax x greatest) => greatest;
    (umin x x) => x;
    (umin x 0) => 0;
    (umin x ones) => x;
    (umax x x) => x;
    (umax x 0) => x;
    (umax x ones) => ones;
    (iabs (iabs x)) => (iabs x);

    // Choices.
    (select true x y) => x;
    (select false x y) => y;
    (select c x x) => x;
    (select c true false) => c;
    (select c false true) => (xor c true);
    (select c (select c x y) z) => (select c x z);
    (select c x (select c y z)) => (select c x z);

    // Comparisons.
    (icmp.eq x x) => true;
    (icmp.ne x x) => false;
    (icmp.slt x x) => false;
    (icmp.sle x x) => true;
    (icmp.ult x x) => false;
    (icmp.ule x x) => true;
    (icmp.ult x 0) => false;
    (icmp.uge x 0) => true;
    (icmp.ugt x ones) => false;
    (icmp.ule x ones) => true;
    (icmp.slt x least) => false;
    (icmp.sge x least) => true;
    (icmp.sgt x greatest) => false;
    (icmp.sle x greatest) => true;
    (icmp.eq c true) => c;
    (icmp.eq c false) => (xor c true);
    (icmp.ne c true) => (xor c true);
    (icmp.ne c false) => c;
    (icmp.ne (zext c) 0) => c;
    (icmp.eq (zext c) 0) => (xor c true);

    // Casts; a value stands for one of its own type only.
    (trunc (zext x)) => x;
    (trunc (sext x)) => x;
    (trunc (trunc x)) => (trunc x);
    (zext (zext x)) => (zext x);
    (sext (sext x)) => (sext x);
    (sext (zext x)) => (zext x);
    (bitcast (bitcast x)) => x;
    (freeze (freeze x)) => (freeze x);

    // Floats, their signs only.
    (fneg (fneg x)) => x;
    (fabs (fabs x)) => (fabs x);
    (fabs (fneg x)) => (fabs x);
    (copysign x x) => x;

    // Addresses.
    (ptradd p 0) => p;
};

/// What holds as well where no operand is poison, as masks are: code generation freezes what they are made of.
pub static RULES_OF_MASKS: &[Rule] = rules! {
    (select c true x) => (or x c);
    (select c x false) => (and c x);
};
