//! What the cost model says of a row, asked in its own words: the operation in a kernel of our IR.

use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::cost::{LINE_EACH, Lanes, MISPREDICTED, gang_cost, scalar_cost};
use lockstep_ir::analysis::divergence::{Facts, analyze_divergence};
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::analysis::mask_cost::masking_cost;
use lockstep_ir::analysis::no_wrap_stride::find_no_wrap_strides;
use lockstep_ir::analysis::recurrence::{CYCLE, recurrence_cycles};
use lockstep_ir::ir::parse_module;
use lockstep_ir::target::{Registers, TargetInfo};

use super::GANG;
use super::rows::{Mode, Row};

/// Operations on one element that the model takes to be done in a cycle.
pub const OPERATIONS_A_CYCLE: f64 = CYCLE as f64;

/// What is before a model that asks for the cost of a mask.
const OF_MASK: &str = "mask: ";

/// The registers of the machine that this runs on.
pub fn host_registers() -> Registers {
    let bits = if is_x86_feature("avx512f") {
        512
    } else if is_x86_feature("avx2") {
        256
    } else {
        128
    };
    Registers { target: TargetInfo::of_bits(bits), width: GANG as u32 }
}

#[cfg(target_arch = "x86_64")]
fn is_x86_feature(name: &str) -> bool {
    match name {
        "avx512f" => std::arch::is_x86_feature_detected!("avx512f"),
        _ => std::arch::is_x86_feature_detected!("avx2"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn is_x86_feature(_: &str) -> bool {
    false
}

/// What the model says of a row, on a machine with these registers.
pub fn ask_model(row: &Row, registers: Registers) -> f64 {
    match row.model {
        "line each" => LINE_EACH as f64,
        "mispredicted" => MISPREDICTED as f64,
        model if row.mode.is_chain() => expected_latency(row, model),
        model => expected_cost(row, model, registers),
    }
}

/// What the last operation of a kernel costs.
fn expected_cost(row: &Row, model: &str, registers: Registers) -> f64 {
    let (is_of_mask, operation) = model.strip_prefix(OF_MASK).map_or((false, model), |operation| (true, operation));
    let text = format!(
        "kernel \"k\" {{\n args 20\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n \
         param \"b\" local \"int*\" size 8 align 8 offset 8\n param \"n\" value \"int\" size 4 align 4 offset 16\n \
         input value(0, 0): ptr.global\n input value(1, 0): ptr.local\n input value(2, 0): i32\n slot ss0 size 64 align 4\n \
         region r0 {{\n b0(v0: ptr.global, v1: ptr.local, v2: i32):\n v3: i64 = query.local_id 0\n v4: i64 = shl v3, 2\n \
         v5: ptr.global = ptradd v0, v4\n v6: i32 = load v5 align 4\n v7: i64 = sext v6\n v8: f32 = sitofp v6\n \
         v9: f64 = sitofp v6\n v10: i64 = shl v7, 2\n v11: i64 = shl v3, 3\n v12: i64 = mul v3, 12\n \
         v13: ptr.global = ptradd v0, v10\n v14: ptr.local = ptradd v1, v10\n v20: ptr.private = slot_addr ss0\n \
         v15: ptr.private = ptradd v20, v10\n v16: ptr.global = ptradd v0, v11\n v17: ptr.global = ptradd v0, v12\n \
         v21: i64 = shl v3, 4\n v18: ptr.global = ptradd v0, v21\n v22: i64 = mul v3, -4\n v19: ptr.global = ptradd v0, v22\n \
         {operation}\n return\n }}\n}}\n"
    );
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", row.name));
    let kernel = &module.kernels[0];
    let function = kernel.body();
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let gang_facts = Facts::new(&module, kernel, registers.width).of_kernel(kernel);
    let shapes = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest).shapes;
    let last = *function.blocks[function.entry_block()].insts.last().expect("the operation is there");
    if !row.mode.is_of_gang() {
        return scalar_cost(function, last, &shapes) as f64;
    }
    let lines = find_no_wrap_strides(function, flow_graph.reverse_post_order(), &shapes, registers.width);
    let lanes = Lanes { shapes: &shapes, lines: &lines, rows: None, rewritten: None };
    match is_of_mask {
        true => masking_cost(function, last, lanes, registers) as f64,
        false => gang_cost(function, last, lanes, registers) as f64,
    }
}

/// How many cycles a loop waits in each iteration whose value goes through some operations.
fn expected_latency(row: &Row, operations: &str) -> f64 {
    let ty = match row.ty {
        "short" => "i16",
        "int" => "i32",
        "long" => "i64",
        "float" => "f32",
        _ => "f64",
    };
    let text = format!(
        "kernel \"k\" {{\n args 16\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n \
         param \"n\" value \"int\" size 4 align 4 offset 8\n input value(0, 0): ptr.global\n input value(1, 0): i32\n \
         region r0 {{\n b0(v0: ptr.global, v1: i32):\n v2: i64 = query.local_id 0\n v3: i64 = mul v2, 8\n \
         v4: ptr.global = ptradd v0, v3\n v5: {ty} = load v4 align 2\n v6: {ty} = load v4 + 64 align 2\n \
         jump b1(0:i32, v5)\n b1(v7: i32, v8: {ty}):\n {operations}\n v20: i32 = add v7, 1\n \
         v21: i1 = icmp.slt v20, v1\n br v21, b1(v20, v12), b2\n b2:\n return\n }}\n}}\n"
    );
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", row.name));
    let kernel = &module.kernels[0];
    let function = kernel.body();
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let gang_facts = Facts::new(&module, kernel, GANG as u32);
    let shapes = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest).shapes;
    let (loop_id, _) = loop_forest.iter().next().expect("there is a loop");
    recurrence_cycles(function, &loop_forest, loop_id, (row.mode == Mode::GangLatency).then_some(&shapes)) as f64
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    fn expected_of(name: &str) -> f64 {
        let row = ROWS.iter().find(|row| row.name == name).expect("there is such a row");
        ask_model(row, Registers { target: TargetInfo::of_bits(512), width: 16 })
    }

    #[test]
    fn the_model_has_an_answer_to_every_row() {
        ROWS.iter().for_each(|row| assert!(expected_of(row.name) > 0.0, "{}", row.name));
    }

    #[test]
    fn the_models_answers_are_those_of_its_constants() {
        assert_eq!(expected_of("vector operation"), 2.0);
        assert_eq!(expected_of("operation"), 1.0);
        // Five, twice as much on 512 bits, of a wide register.
        assert_eq!(expected_of("divide float"), 20.0);
        assert_eq!(expected_of("work-item divides float"), 5.0);
        assert_eq!(expected_of("gather"), 48.0);
        assert_eq!(expected_of("gather local"), 80.0);
        assert_eq!(expected_of("scatter"), 96.0);
        assert_eq!(expected_of("private anywhere"), 192.0);
        assert_eq!(expected_of("masked store"), 1.0);
        assert_eq!(expected_of("product of ints"), 10.0);
        assert_eq!(expected_of("work-item's product of ints"), 3.0);
    }
}
