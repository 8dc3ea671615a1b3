//! Facts about functions. Each analysis is a free function; its result is a value that the caller drops
//! when the function changes.

mod adjacency;
pub mod affine_address;
pub mod block_index;
pub mod cfg;
pub mod cost;
pub mod counters;
pub mod critical_path;
pub mod disjoint_memory;
pub mod divergence;
pub mod dominator_tree;
pub mod dominators;
pub mod liveness;
pub mod loop_steps;
pub mod loops;
pub mod mask_cost;
pub mod no_wrap_stride;
pub mod nonempty_masks;
pub mod nontemporal;
pub mod points_to;
pub mod post_dominators;
pub mod predicates;
pub mod recurrence;
pub mod returned_values;
pub mod sccp;
pub mod shape;
pub mod shares;
pub mod specialization_candidates;
pub mod spin_loops;
pub mod sync_dependence;
#[cfg(test)]
pub(crate) mod testing;
pub mod traversal_order;
pub mod underlying_objects;
pub mod work_group_dependence;
