//! In which order a kernel goes through memory: where the driver is free to choose groups, one that moves rows to columns is
//! for tiles, and one that goes down columns only for groups along dimension 1.
//!
//! Requires: a verified kernel of one region, as it was imported or in normal form.
//! Ensures: of a kernel that transposes, lanes along dimension 1 access neighbouring elements somewhere, lanes along
//! dimension 0 do not there, and they do elsewhere. Of one that goes by columns, they do nowhere.
//! Phases: kernels that ask for both places in the range, of one block if they transpose; the shapes of addresses along
//! either dimension; one look at every access.
//! Source: DESIGN decision 8.

use super::cfg::build_cfg;
use super::divergence::{Divergence, Facts, analyze_divergence};
use super::dominators::compute_dominators;
use super::loops::find_loops;
use super::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::ir::{Function, InstData, InstNode, Kernel, Module, Query, Value};
use crate::plan::access_lowering::is_plain;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::program_metadata::TraversalOrder;
use lockstep_protocol::types::Type;

/// Instructions of kernels that are looked at.
const MOST_INSTS: usize = 64;

/// Lanes that are compared.
const LANES: u32 = 16;

/// Instructions of kernels that may go by columns.
const MOST_INSTS_BY_COLUMNS: usize = 400;

/// Finds the order in which a kernel goes through memory.
pub fn find_order(module: &Module, kernel: &Kernel) -> TraversalOrder {
    let Some(function) = kernel.regions.values().next() else { return TraversalOrder::Rows };
    if function.insts.len() > MOST_INSTS_BY_COLUMNS {
        return TraversalOrder::Rows;
    }
    match Orders::of_kernel(module, kernel) {
        Some(Orders { rows: true, columns: true })
            if function.layout.len() == 1 && function.insts.len() <= MOST_INSTS =>
        {
            TraversalOrder::Both
        }
        Some(Orders { rows: false, columns: true }) => TraversalOrder::Columns,
        _ => TraversalOrder::Rows,
    }
}

/// Along which dimensions some access is to neighbouring elements, where that along the other one is to none that follow
/// from each other.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Orders {
    rows: bool,
    columns: bool,
}

impl Orders {
    /// None of kernels with several regions, and of those that do not ask for both places.
    fn of_kernel(module: &Module, kernel: &Kernel) -> Option<Orders> {
        let mut regions = kernel.regions.values();
        let (Some(function), None) = (regions.next(), regions.next()) else { return None };
        let asks_id = |dimension: u8| {
            let mut data = function.insts.values().map(|inst_node| &inst_node.data);
            data.any(|inst_data| matches!(inst_data, InstData::Query { query: Query::GlobalId, dimension: of } if *of == dimension))
        };
        if !asks_id(0) || !asks_id(1) {
            return None;
        }
        let [rows, columns] = [Layout::X, Layout::Y].map(|layout| Along::of_region(module, kernel, function, layout));
        let is_plain_only = |along: &Along, other: &Along| {
            let mut accesses = function.insts.values().filter_map(accessed_elements);
            accesses.any(|(pointer, elements)| {
                along.is_plain(pointer, function.ty(elements[0]), elements.len()) && other.stride_of(pointer).is_none()
            })
        };
        Some(Orders { rows: is_plain_only(&rows, &columns), columns: is_plain_only(&columns, &rows) })
    }
}

/// The address that an instruction loads from or stores to, and what: one value at least.
fn accessed_elements(inst_node: &InstNode) -> Option<(Value, &[Value])> {
    let (pointer, elements) = match &inst_node.data {
        InstData::Load { pointer, .. } => (*pointer, &inst_node.results),
        InstData::Store { pointer, arguments, .. } => (*pointer, arguments),
        _ => return None,
    };
    (!elements.is_empty()).then_some((pointer, elements))
}

/// How addresses differ between lanes along a dimension.
struct Along {
    found: Divergence,
    lines: SecondaryMap<Value, Option<NoWrapStride>>,
}

impl Along {
    fn of_region(module: &Module, kernel: &Kernel, function: &Function, layout: Layout) -> Along {
        let gang_facts = Facts::new(module, kernel, LANES).laid_out(layout).of_kernel(kernel);
        let flow_graph = build_cfg(function);
        let divergence = analyze_divergence(
            function,
            &gang_facts,
            &flow_graph,
            &find_loops(&flow_graph, &compute_dominators(&flow_graph)),
        );
        let no_wrap_strides =
            find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, LANES);
        Along { found: divergence, lines: no_wrap_strides }
    }

    fn stride_of(&self, pointer: Value) -> Option<i64> {
        self.found.shapes[pointer].stride().or(self.lines[pointer].as_ref().map(|no_wrap_stride| no_wrap_stride.stride))
    }

    fn is_plain(&self, pointer: Value, element_type: Type, element_count: usize) -> bool {
        self.stride_of(pointer).is_some_and(|stride| is_plain(stride, element_type, element_count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;
    use lockstep_protocol::program_metadata::TraversalOrder;

    /// The order of a kernel that stores what it loads, at indices computed of the ids along both dimensions (`v3`
    /// and `v4`) and of a number (`v5`).
    fn of(load: &str, store: &str) -> TraversalOrder {
        let text = format!(
            r#"kernel "k" {{
  args 24
  param "in" pointer.global "int*" size 8 align 8 offset 0
  param "out" pointer.global "int*" size 8 align 8 offset 8
  param "n" value "int" size 4 align 4 offset 16
  input value(0, 0): ptr.global
  input value(1, 0): ptr.global
  input value(2, 0): i32
  region r0 {{
  b0(v0: ptr.global, v1: ptr.global, v2: i32):
    v3: i64 = query.global_id 0
    v4: i64 = query.global_id 1
    v5: i64 = zext v2
    {load}
    v12: i64 = shl v11, 2
    v13: ptr.global = ptradd v0, v12
    v14: i32 = load v13 align 4
    {store}
    v22: i64 = shl v21, 2
    v23: ptr.global = ptradd v1, v22
    store v14 to v23 align 4
    return
  }}
}}
"#
        );
        let module = parse_module(&text).unwrap();
        find_order(&module, &module.kernels[0])
    }

    #[test]
    fn rows_to_columns_and_back() {
        let by_row = |v: u32| format!("v{}: i64 = mul v4, v5\n v{}: i64 = add v{}, v3", v - 1, v, v - 1);
        let by_column = |v: u32| format!("v{}: i64 = mul v3, v5\n v{}: i64 = add v{}, v4", v - 1, v, v - 1);
        assert_eq!(of(&by_row(11), &by_column(21)), TraversalOrder::Both);
        assert_eq!(of(&by_column(11), &by_row(21)), TraversalOrder::Both);
        assert_eq!(of(&by_row(11), &by_row(21)), TraversalOrder::Rows, "copies rows");
        assert_eq!(of(&by_column(11), &by_column(21)), TraversalOrder::Columns, "copies columns");
        assert_eq!(of("v11: i64 = add v4, v5", &by_row(21)), TraversalOrder::Rows, "reads the same for a row");
        assert_eq!(of("v11: i64 = add v4, v5", &by_column(21)), TraversalOrder::Columns, "reads a row for a column");
    }
}
