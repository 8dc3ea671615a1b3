//! Machine code against the interpreter and against what kernels mean, written out here.

#[path = "../machine/mod.rs"]
mod machine;

mod absent_rows;
mod access_words;
mod atomics;
mod barrier_kernels;
mod barrier_layouts;
mod bounds;
mod calls;
mod chunks;
mod clock;
mod columns;
mod debug_lines;
mod elsewhere;
mod exponents;
mod function_pointers;
mod gangs;
mod golden;
mod hoisted_sums;
mod host_code;
mod kept_places;
mod kernels;
mod layouts;
mod loop_profile;
mod lowered;
mod masked_loads;
mod memory_order;
mod mistakes;
mod one_by_one;
mod operations;
mod pieces;
mod random;
mod regions;
mod report;
mod roots;
mod streams;
mod sub_groups;
mod turns;
mod volatile_rows;
mod walks;
mod wide_arms;
mod widths;
