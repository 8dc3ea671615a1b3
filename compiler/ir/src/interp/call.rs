//! Calls of functions of the program: a work-item runs one from its beginning to its end while its own code stands still.

use super::fault::Fault;
use super::item::{Arrival, Group, Item};
use super::launch::LaunchState;
use super::memory::Memory;
use crate::ir::{Callee, Kernel};

impl Item {
    /// Runs a function with these arguments; what it returns. What it does is no part of the report, but for the steps.
    pub(super) fn call_function(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        callee: Callee,
        arguments: &[u128],
    ) -> Result<Vec<u128>, Fault> {
        let function = &launch_state.module.functions[callee];
        let caller = std::mem::replace(&mut launch_state.kernel, function);
        let observer = launch_state.observer.take();
        let branches = std::mem::take(&mut launch_state.report.branches);
        let outcome = self.run_called(launch_state, group, memory, function, arguments);
        launch_state.kernel = caller;
        launch_state.observer = observer;
        launch_state.report.branches = branches;
        outcome
    }

    /// The same work-item at the beginning of the function that runs, with these arguments. `gang` is the first lane of its
    /// gang there, if that is another one.
    pub(super) fn begin_call(
        &self,
        launch_state: &LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        gang: Option<&Item>,
        arguments: &[u128],
    ) -> Result<Item, Fault> {
        let body = launch_state.kernel.body();
        let slots = self.make_slots(launch_state, gang, memory)?;
        let mut called_item = self.at_call(slots, body.entry_block());
        called_item.enter_region(launch_state, group, called_item.region, memory)?;
        for (&parameter, &argument) in body.blocks[called_item.block].params.iter().zip(arguments) {
            called_item.values[parameter.as_u32() as usize] = argument;
        }
        Ok(called_item)
    }

    fn run_called(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
        function: &Kernel,
        arguments: &[u128],
    ) -> Result<Vec<u128>, Fault> {
        let mut called_item = self.begin_call(launch_state, group, memory, None, arguments)?;
        let arrival = called_item.execute_region(launch_state, group, memory)?;
        self.steps = called_item.steps;
        match arrival {
            Arrival::End if called_item.results.len() == function.results.len() => Ok(called_item.results),
            Arrival::End => Err(Fault::Undefined("a function returns without having set its results".to_string())),
            _ => Err(Fault::Undefined("a function waits for other work-items".to_string())),
        }
    }
}
