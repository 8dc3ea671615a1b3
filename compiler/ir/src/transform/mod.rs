//! Passes that change a kernel's code.

pub mod all_true;
pub mod barriers;
pub mod boscc;
pub mod copy;
pub mod divergent_loops;
pub mod fold;
pub mod group_accesses;
pub mod in_turn;
pub mod interleave;
pub mod known_inputs;
pub mod linear_ids;
pub mod linearize;
pub mod normalize;
pub mod own_counters;
pub mod promote_places;
pub mod reducible;
pub mod rounds;
pub mod rounds_at_once;
pub mod shared_live;
pub mod split_conditions;
pub mod trivial_branches;
pub mod uniform_choices;
pub mod unmasked_loops;
pub mod unreachable_edges;
pub mod waiting_loops;
pub mod whole_pieces;
