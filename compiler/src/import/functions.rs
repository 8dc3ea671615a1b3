//! Functions that stay functions. Their calls are imported in `calls.rs`.
//!
//! Requires: no recursion; functions as `frontend/inlining.rs` lets them stay.
//! Ensures: of each function that a kernel comes to, one in our IR behind those that it calls. It gets the scalars of the arguments
//! that it uses, and then what it asks of its work-item, ids and sizes, by which it is the same code for every work-item. It returns the
//! scalars of its result.
//! Phases: which functions, callees first; then each as a kernel is imported.
//! Source: our own.
//!
//! ```text
//! %r = call float @f(i32 %x)         =>       v8: i64 = query.global_id 0
//!                                             v9: f32 = call fn0(v7, v8)
//! ```

use super::blocks::{error_in, fill_body, reverse_postorder};
use super::calls::source_name;
use super::emit::{Body, CalledBody, Lanes};
use super::error::{Attempt, ImportError, Reason, refuse};
use super::llvm::{Type as LlvmType, Value as LlvmValue};
use super::module_builder::{ImportedFunction, ModuleBuilder};
use cranelift_entity::PrimaryMap;
use lockstep_ir::ir::Kernel;
use lockstep_ir::verify::may_stand_in_function;
use lockstep_protocol::parameters::{Input, KernelAttrs};

/// Imports the functions that a function calls, directly or through others, as far as they have not been.
pub(super) fn import_called<'m>(
    module_builder: &mut ModuleBuilder<'m>,
    caller: LlvmValue<'m>,
) -> Result<(), ImportError> {
    // The functions that are being looked at, each with those of its callees that are left.
    let mut call_stack = vec![(caller, called_functions(caller))];
    while let Some((function, callees_left)) = call_stack.last_mut() {
        let function = *function;
        match callees_left.pop() {
            Some(callee) if module_builder.functions.contains_key(&callee) => {}
            Some(callee) if call_stack.iter().any(|&(active, _)| active == callee) => {
                let reason = format!("{} calls itself; recursion is not supported", source_name(&callee.name()));
                return Err(ImportError { reason, function: callee.name(), line: callee.function_line() });
            }
            Some(callee) => {
                callee.read_body();
                call_stack.push((callee, called_functions(callee)));
            }
            None => {
                call_stack.pop();
                if !call_stack.is_empty() {
                    let imported_function = import_function(module_builder, function)?;
                    module_builder.functions.insert(function, imported_function);
                }
            }
        }
    }
    Ok(())
}

/// The functions with bodies that a function calls itself, each once, the first one last.
fn called_functions(function: LlvmValue<'_>) -> Vec<LlvmValue<'_>> {
    let mut callees: Vec<LlvmValue<'_>> = Vec::new();
    for instruction in reverse_postorder(function).into_iter().flat_map(|block| block.instructions()) {
        let Some(callee) = instruction.called_function() else { continue };
        if callee.is_function() && !callee.is_declaration() && !callees.contains(&callee) {
            callees.push(callee);
        }
    }
    callees.reverse();
    callees
}

fn import_function<'m>(
    module_builder: &mut ModuleBuilder<'m>,
    function: LlvmValue<'m>,
) -> Result<ImportedFunction, ImportError> {
    let mut function_body = Body::new(module_builder);
    let results = match result_type(function).and_then(|llvm_type| function_body.leaf_types(llvm_type)) {
        Ok(types) => types,
        Err(Reason(reason)) => return Err(error_in(&function_body, function, reason)),
    };
    let filled = add_parameters(&mut function_body, function).and_then(|()| fill_body(&mut function_body, function));
    filled
        .and_then(|()| check_body(&function_body))
        .map_err(|Reason(reason)| error_in(&function_body, function, reason))?;
    let asked = function_body.called.take().unwrap_or_default().asked;
    let Body { function: code, slots, .. } = function_body;
    let parameters = &code.blocks[code.entry_block()].params;
    let inputs = (0..).zip(parameters).map(|(position, &parameter)| (Input::Passed { position }, code.ty(parameter)));
    let inputs = inputs.collect();
    let kernel = Kernel {
        name: function.name(),
        params: Vec::new(),
        args_size: 0,
        inputs,
        results,
        slots,
        locals: PrimaryMap::new(),
        live: PrimaryMap::new(),
        regions: [code].into_iter().collect(),
        combines: Default::default(),
        attrs: KernelAttrs::default(),
        definition: function.definition(),
    };
    let callee = module_builder.out.functions.push(kernel);
    Ok(ImportedFunction { callee, asked: asked.into_iter().map(|(query, _)| query).collect() })
}

/// Makes the parameters in front of what is asked: those that calls pass.
fn add_parameters<'m>(function_body: &mut Body<'_, 'm>, function: LlvmValue<'m>) -> Attempt<()> {
    let entry_block = function_body.at;
    for argument in function.params().into_iter().filter(|argument| argument.is_used()) {
        let types = function_body.leaf_types(argument.ty())?;
        let lanes: Lanes =
            types.into_iter().map(|scalar_type| function_body.function.add_param(entry_block, scalar_type)).collect();
        function_body.values.insert(argument, lanes);
    }
    function_body.called = Some(CalledBody::default());
    Ok(())
}

/// The front end lets no other function stay.
fn check_body(function_body: &Body<'_, '_>) -> Attempt<()> {
    for inst_node in function_body.function.insts.values() {
        if !may_stand_in_function(&inst_node.data) {
            refuse!("a function that is called, and does more than compute and access memory");
        }
    }
    Ok(())
}

fn result_type<'m>(function: LlvmValue<'m>) -> Attempt<LlvmType<'m>> {
    match function.return_type() {
        Some(llvm_type) => Ok(llvm_type),
        None => refuse!("{} is no function", function.name()),
    }
}
