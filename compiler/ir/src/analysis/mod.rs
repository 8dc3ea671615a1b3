//! Facts about functions. Each analysis is a free function; its result is a value that the caller drops
//! when the function changes.

pub mod addresses;
pub mod arguments;
pub mod block_index;
pub mod cfg;
pub mod cost;
pub mod counters;
pub mod divergence;
pub mod dominators;
pub mod group_queries;
pub mod in_flight;
pub mod joins;
pub mod lines;
pub mod liveness;
pub mod loop_steps;
pub mod loops;
pub mod masking;
pub mod origins;
pub mod pointees;
pub mod post_dominators;
pub mod predicates;
pub mod recurrence;
pub mod run_by_some;
pub mod sccp;
pub mod shape;
pub mod shares;
pub mod streams;
#[cfg(test)]
pub(crate) mod testing;
pub mod traversal_order;
pub mod waiting;
