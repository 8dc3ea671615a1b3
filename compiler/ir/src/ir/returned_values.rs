//! What is known of the results of functions: `analysis/returned_values.rs` finds it.

use super::entities::Callee;
use cranelift_entity::SecondaryMap;

/// What is known of the results of each function.
pub type ReturnedValues = SecondaryMap<Callee, ReturnedValue>;

/// Which inputs of a function its results follow from.
#[derive(Clone, Debug, Default)]
pub struct ReturnedValue {
    /// Whether each lane has to call for itself, whatever the inputs are: it does what counts each time.
    pub counts_calls: bool,
    /// By input, the results that vary with it, one bit each; the last bit stands for all from there on.
    pub varying_results: Vec<u64>,
}

impl ReturnedValue {
    /// Whether a result is the same in all lanes that call together, given which inputs are.
    pub fn is_uniform(&self, result_index: usize, is_uniform_input: impl Fn(usize) -> bool) -> bool {
        let mut inputs = self.varying_results.iter().enumerate();
        !self.counts_calls
            && inputs.all(|(input, &results)| results >> result_index.min(63) & 1 == 0 || is_uniform_input(input))
    }

    /// Whether one call does for all lanes that give it the same.
    pub fn may_be_called_once(&self) -> bool {
        !self.counts_calls
    }
}
