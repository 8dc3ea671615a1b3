//! What is inlined into what, and which functions stay functions.
//!
//! Everything is inlined into the kernels, as long as a kernel does not become too large by it: code in which each of some functions
//! calls the one before it twice doubles with each of them. Of such a program functions stay that are called from several places:
//! code of gangs has forms of them (`lockstep_ir::plan::function_forms`).
//!
//! Requires: a linked module.
//! Ensures: no recursion; functions that stay wait for nobody (none reads in a loop what others write) and ask for nothing but ids and
//! sizes, themselves and in what is inlined into them, and have no `__local` variables. None stays where no kernel has more instructions than [`LARGE_KERNEL`], nor where
//! the largest one would keep more than half of its instructions.
//! Phases: who calls whom; sizes with everything inlined; where a kernel is too large, sizes with the larger functions left
//! out that several places call, until the kernels are small enough.
//! Source: our own.
//!
//! ```text
//! kernel k { f2() }   f2 { f1(); f1() }   f1 { … }        =>        kernel k { f1(); f1() }   f1 { … }
//! ```

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};
use llvm_sys::core::{
    LLVMGetInstructionParent, LLVMGetNumOperands, LLVMGetOperand, LLVMGetVolatile, LLVMIsAGlobalVariable, LLVMIsAtomic,
    LLVMTypeOf,
};
use llvm_sys::core::{LLVMGetPointerAddressSpace, LLVMIsALoadInst, LLVMIsAStoreInst};
use llvm_sys::prelude::LLVMValueRef;
use lockstep_ir::ir::Query;
use lockstep_protocol::types::Space;

use super::FrontendError;
use super::function_pointers::is_chooser;
use super::llvm::successors;
use super::simplify_llvm::{RawFunction, called_function, describe_place, is_kernel, raw_value, shown_name};

/// The most instructions that all kernels may have together once all is inlined into them that is to be. LLVM handles about
/// a million in a second.
const MAX_INLINED: u64 = 32_000_000;

/// Instructions of a kernel with everything inlined, as clang writes them, up to which everything is. A tree of calls that comes to 110,000
/// took 3 s from its source to its first results, one that comes to 440,000 took 34 s.
const LARGE_KERNEL: u64 = 20_000;

/// Instructions that a larger kernel is to come down to.
const SMALL_KERNEL: u64 = 10_000;

/// Instructions, with what is inlined, from which on functions stay that several places call: the first of these
/// that makes the kernels small enough. What is inlined runs in gangs.
const STAYING_SIZES: [u64; 2] = [1_024, 256];

/// Blocks of a function that read what others write up to which each is looked at. A function with more is taken to wait.
const MOST_READING_BLOCKS: usize = 64;

/// Who calls whom, and how large each definition is.
pub(super) struct CallGraph<'ctx> {
    nodes: HashMap<LLVMValueRef, Node<'ctx>>,
}

/// How calls are inlined.
pub(super) struct InliningPlan<'ctx> {
    /// The functions that kernels come to and that are none, each behind its callers. LLVM's inliner copies a function into its callers in
    /// the order of the module and removes it then. In this order each is copied as the program has it; the other way round a chain
    /// of functions, of which each calls the next, was copied in the square of its length.
    pub callers_first: Vec<FunctionValue<'ctx>>,
    /// The functions that are not inlined.
    pub stay: HashSet<FunctionValue<'ctx>>,
    /// Instructions of all kernels, and of the functions that stay, together afterwards.
    pub kernel_instructions: u64,
    /// Those of all functions, if all calls were inlined into all of them.
    pub all_instructions: u64,
}

struct Node<'ctx> {
    function: FunctionValue<'ctx>,
    size: u64,
    callees: Vec<LLVMValueRef>,
    /// The calls of these.
    calls: Vec<LLVMValueRef>,
    /// Whether its own instructions may stand in a function that stays.
    suits_staying: bool,
    /// The blocks with its own instructions that read what others write, or order accesses.
    reading_blocks: HashSet<BasicBlock<'ctx>>,
}

/// What functions come to once all is inlined into them that does not stay.
#[derive(Default)]
struct InlinedSizes {
    /// Instructions of each function.
    sizes: HashMap<LLVMValueRef, u64>,
    /// The functions that stay.
    stay: HashSet<LLVMValueRef>,
}

impl<'ctx> CallGraph<'ctx> {
    /// Looks at all functions of a module.
    pub fn of_module(module: &Module<'ctx>) -> Self {
        let mut nodes = HashMap::new();
        for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
            // A kernel's body, which other kernels call, may have `__local` variables.
            let is_kernel_body = function.get_name().to_bytes().starts_with(b"__clang_ocl_kern_imp_");
            let suits_staying = !is_kernel(&function) && !is_kernel_body;
            let mut call_node = Node {
                function,
                size: 0,
                callees: Vec::new(),
                calls: Vec::new(),
                suits_staying,
                reading_blocks: HashSet::new(),
            };
            let with_blocks = |block: BasicBlock<'ctx>| block.get_instructions().map(move |each| (block, each));
            for (block, instruction) in function.get_basic_block_iter().flat_map(with_blocks) {
                call_node.size += 1;
                call_node.suits_staying = call_node.suits_staying && may_stand_in_function(instruction);
                if reads_of_others(instruction) {
                    call_node.reading_blocks.insert(block);
                }
                if instruction.get_opcode() == InstructionOpcode::Call
                    && let Some(callee) = called_function(instruction)
                {
                    call_node.callees.push(callee.as_value_ref_raw());
                    call_node.calls.push(raw_value(instruction));
                }
            }
            nodes.insert(function.as_value_ref_raw(), call_node);
        }
        Self { nodes }
    }

    /// Refuses recursion, and sources of a few lines that would inline into gigabytes.
    pub fn plan_inlining(&self, kernels: &[FunctionValue<'ctx>]) -> Result<InliningPlan<'ctx>, FrontendError> {
        let callees_first = self.order_callees_first(kernels)?;
        let inlined_sizes = self.choose_staying(&callees_first, kernels);
        if let Some((kernel_size, kernel)) = inlined_sizes.largest_of(kernels).filter(|&(size, _)| size > MAX_INLINED) {
            return Err(too_large(&format!("kernel '{}' has {kernel_size} instructions", shown_name(kernel))));
        }
        let kernel_keys = kernels.iter().map(|kernel| kernel.as_value_ref_raw());
        let all_roots = kernel_keys.chain(inlined_sizes.stay.iter().copied());
        let kernel_instructions = all_roots.map(|root| inlined_sizes.size_of(root)).fold(0, u64::saturating_add);
        if kernel_instructions > MAX_INLINED {
            return Err(too_large(&format!("the kernels have {kernel_instructions} instructions together")));
        }
        let function_of =
            |function_key: &LLVMValueRef| self.nodes.get(function_key).map(|call_node| call_node.function);
        let callers_first = callees_first.iter().rev().filter_map(function_of);
        Ok(InliningPlan {
            callers_first: callers_first.filter(|function| !is_kernel(function)).collect(),
            stay: inlined_sizes.stay.iter().filter_map(function_of).collect(),
            kernel_instructions,
            all_instructions: inlined_sizes.sizes.values().copied().fold(0, u64::saturating_add),
        })
    }

    /// The functions that may wait: those with a loop that reads what others write, or calls functions that do, or may wait itself.
    fn find_waiting(&self, callees_first: &[LLVMValueRef]) -> HashSet<LLVMValueRef> {
        let mut readers: HashSet<LLVMValueRef> = HashSet::new();
        let mut waiting: HashSet<LLVMValueRef> = HashSet::new();
        for function_key in callees_first {
            let Some(call_node) = self.nodes.get(function_key) else { continue };
            let calls_with_callees = call_node.calls.iter().zip(&call_node.callees);
            let calls_of_readers = calls_with_callees.filter(|(_, callee)| readers.contains(callee));
            // SAFETY: the instruction is alive, and has a parent.
            let block_of = |(&call, _): (&LLVMValueRef, _)| unsafe { BasicBlock::new(LLVMGetInstructionParent(call)) };
            let mut reading_blocks = call_node.reading_blocks.clone();
            reading_blocks.extend(calls_of_readers.filter_map(block_of));
            if reading_blocks.is_empty() {
                continue;
            }
            readers.insert(*function_key);
            let calls_waiting = call_node.callees.iter().any(|callee| waiting.contains(callee));
            if calls_waiting
                || reading_blocks.len() > MOST_READING_BLOCKS
                || reading_blocks.into_iter().any(is_in_cycle)
            {
                waiting.insert(*function_key);
            }
        }
        waiting
    }

    /// Sizes with everything inlined, or without what is to stay where a kernel is too large by that.
    fn choose_staying(&self, callees_first: &[LLVMValueRef], kernels: &[FunctionValue<'ctx>]) -> InlinedSizes {
        let has_above = |inlined_sizes: &InlinedSizes, most_instructions: u64| {
            inlined_sizes.largest_of(kernels).is_some_and(|(kernel_size, _)| kernel_size > most_instructions)
        };
        let with_everything = self.measure_inlined(callees_first, None);
        if !has_above(&with_everything, LARGE_KERNEL) {
            return with_everything;
        }
        let waiting = self.find_waiting(callees_first);
        let mut inlined_sizes = InlinedSizes::default();
        for least_size in STAYING_SIZES {
            inlined_sizes = self.measure_inlined(callees_first, Some((least_size, &waiting)));
            if !has_above(&inlined_sizes, SMALL_KERNEL) {
                break;
            }
        }
        // What is large by itself gains nothing by calls.
        let largest_size = |inlined_sizes: &InlinedSizes| inlined_sizes.largest_of(kernels).map_or(0, |(size, _)| size);
        let is_halved = largest_size(&inlined_sizes) <= largest_size(&with_everything) / 2;
        if is_halved || has_above(&with_everything, MAX_INLINED) { inlined_sizes } else { with_everything }
    }

    /// Sizes where those functions stay that may, that several places call, and that have at least so many instructions; the functions
    /// that may wait stand beside that. None stays where nothing is given.
    fn measure_inlined(
        &self,
        callees_first: &[LLVMValueRef],
        staying_rule: Option<(u64, &HashSet<LLVMValueRef>)>,
    ) -> InlinedSizes {
        let mut call_sites: HashMap<LLVMValueRef, usize> = HashMap::new();
        let nodes =
            || callees_first.iter().filter_map(|function_key| Some((function_key, self.nodes.get(function_key)?)));
        for &callee in nodes().flat_map(|(_, call_node)| &call_node.callees) {
            *call_sites.entry(callee).or_default() += 1;
        }
        let mut inlined_sizes = InlinedSizes::default();
        let mut may_stay: HashSet<LLVMValueRef> = HashSet::new();
        for (&function_key, call_node) in nodes() {
            let inlined_callees = call_node.callees.iter().filter(|callee| !inlined_sizes.stay.contains(callee));
            let callee_sizes = inlined_callees.map(|&callee| inlined_sizes.size_of(callee));
            let function_size = callee_sizes.fold(call_node.size, u64::saturating_add);
            let may_wait = staying_rule.is_some_and(|(_, waiting)| waiting.contains(&function_key));
            let suits_staying = call_node.suits_staying
                && !may_wait
                && call_node.callees.iter().all(|callee| !self.nodes.contains_key(callee) || may_stay.contains(callee));
            if suits_staying {
                may_stay.insert(function_key);
                let is_large = staying_rule.is_some_and(|(least_size, _)| function_size >= least_size);
                if is_large && call_sites.get(&function_key).is_some_and(|&sites| sites > 1) {
                    inlined_sizes.stay.insert(function_key);
                }
            }
            inlined_sizes.sizes.insert(function_key, function_size);
        }
        inlined_sizes
    }

    /// The functions that kernels come to, each behind those that it calls: depth first with a stack of its own, as the depth is the
    /// program's choice.
    fn order_callees_first(&self, kernels: &[FunctionValue<'ctx>]) -> Result<Vec<LLVMValueRef>, FrontendError> {
        let mut callees_first = Vec::new();
        // Whether all of a function's callees have been looked at.
        let mut is_done: HashMap<LLVMValueRef, bool> = HashMap::new();
        let mut call_stack: Vec<(LLVMValueRef, usize)> = Vec::new();
        for kernel in kernels {
            call_stack.push((kernel.as_value_ref_raw(), 0));
            while let Some((function_key, next_call)) = call_stack.pop() {
                let Some(call_node) = self.nodes.get(&function_key) else { continue };
                if next_call == 0 && is_done.contains_key(&function_key) {
                    continue;
                }
                is_done.entry(function_key).or_insert(false);
                match call_node.callees.get(next_call) {
                    Some(&callee) => {
                        call_stack.push((function_key, next_call + 1));
                        match is_done.get(&callee) {
                            Some(true) => {}
                            Some(false) => return Err(self.recursion_error(callee, &call_stack)),
                            None => call_stack.push((callee, 0)),
                        }
                    }
                    None => {
                        is_done.insert(function_key, true);
                        callees_first.push(function_key);
                    }
                }
            }
        }
        Ok(callees_first)
    }

    /// The error of a cycle of calls: the functions from `cycle_start` on, each with the number of its calls up to that of the next one.
    fn recursion_error(&self, cycle_start: LLVMValueRef, call_stack: &[(LLVMValueRef, usize)]) -> FrontendError {
        let cycle = call_stack.iter().skip_while(|(function_key, _)| *function_key != cycle_start);
        let mut cycle: Vec<(&Node<'ctx>, usize)> =
            cycle.filter_map(|(function_key, call_count)| Some((self.nodes.get(function_key)?, *call_count))).collect();
        if cycle.first().is_some_and(|(call_node, _)| is_chooser(call_node.function)) {
            cycle.rotate_left(1);
        }
        let function_names: Vec<String> =
            cycle.iter().map(|(call_node, _)| name_in_cycle(call_node.function)).collect();
        let name = function_names.first().cloned().unwrap_or_default();
        let through = match function_names.get(1..) {
            Some(others) if !others.is_empty() => format!(" through {}", others.join(", ")),
            _ => String::new(),
        };
        // Where a pointer was called says more than the function that chooses what it means.
        let places =
            cycle.iter().rev().filter_map(|(call_node, call_count)| call_node.calls.get(call_count.checked_sub(1)?));
        let place = places.map(|&call| describe_place(call)).find(|place| !place.is_empty()).unwrap_or_default();
        FrontendError::link_failure(format!(
            "{place}error: recursion is not allowed in OpenCL C: {name} calls itself{through}\n"
        ))
    }
}

impl InlinedSizes {
    /// The largest of these kernels, with its size.
    fn largest_of<'ctx>(&self, kernels: &[FunctionValue<'ctx>]) -> Option<(u64, FunctionValue<'ctx>)> {
        let with_sizes = kernels.iter().map(|&kernel| (self.size_of(kernel.as_value_ref_raw()), kernel));
        with_sizes.max_by_key(|&(kernel_size, _)| kernel_size)
    }

    fn size_of(&self, function_key: LLVMValueRef) -> u64 {
        self.sizes.get(&function_key).copied().unwrap_or(0)
    }
}

/// A function as the message about a cycle calls it.
fn name_in_cycle(function: FunctionValue<'_>) -> String {
    if is_chooser(function) { "a pointer".to_owned() } else { format!("'{}'", shown_name(function)) }
}

fn too_large(subject: &str) -> FrontendError {
    FrontendError::link_failure(format!(
        "error: {subject} with all inlined that cannot stay a function; at most {MAX_INLINED} are allowed\n"
    ))
}

/// Whether a block can be reached from itself.
fn is_in_cycle(block: BasicBlock<'_>) -> bool {
    let mut visited = HashSet::new();
    let mut worklist: Vec<BasicBlock<'_>> = successors(block).collect();
    while let Some(next_block) = worklist.pop() {
        if next_block == block {
            return true;
        }
        if visited.insert(next_block) {
            worklist.extend(successors(next_block));
        }
    }
    false
}

/// Whether an instruction reads what other work-items may write meanwhile, or orders accesses.
fn reads_of_others(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{AtomicCmpXchg, AtomicRMW, Fence};
    if matches!(instruction.get_opcode(), AtomicCmpXchg | AtomicRMW | Fence) {
        return true;
    }
    let instruction = raw_value(instruction);
    // SAFETY: the instruction is alive; only loads and stores are asked whether they are volatile or atomic.
    unsafe {
        let accesses = !LLVMIsALoadInst(instruction).is_null() || !LLVMIsAStoreInst(instruction).is_null();
        accesses && (LLVMGetVolatile(instruction) != 0 || LLVMIsAtomic(instruction) != 0)
    }
}

/// Whether an instruction may stand in a function that stays: it waits for no other work-item, names no `__local` variable, and calls
/// nothing but functions, LLVM's intrinsics and what the importer knows how to pass or to compute.
fn may_stand_in_function(instruction: InstructionValue<'_>) -> bool {
    if instruction.get_opcode() == InstructionOpcode::Call {
        match called_function(instruction) {
            Some(function) if function.count_basic_blocks() > 0 => {}
            Some(function) if is_known_primitive(function.get_name().to_bytes()) => {}
            _ => return false,
        }
    }
    let instruction = raw_value(instruction);
    // SAFETY: the instruction is alive; its operands are read within their count, and only global variables, which have a pointer's type,
    // are asked for their address space.
    unsafe {
        (0..LLVMGetNumOperands(instruction) as u32).all(|index| {
            let operand = LLVMGetOperand(instruction, index);
            LLVMIsAGlobalVariable(operand).is_null()
                || LLVMGetPointerAddressSpace(LLVMTypeOf(operand)) != Space::Local.spir_number()
        })
    }
}

/// Whether a declared function computes something of its operands alone, answers with an id or a size, or prints.
fn is_known_primitive(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return false };
    if name == "printf" || name.starts_with("_Z6printf") {
        return true;
    }
    if let Some(intrinsic) = name.strip_prefix("llvm.") {
        return !matches!(intrinsic, "trap" | "ubsantrap" | "debugtrap") && !intrinsic.starts_with("stack");
    }
    name.strip_prefix("__lockstep_").is_some_and(|primitive| {
        Query::from_name(primitive).is_some()
            || matches!(
                primitive,
                "recip_estimate"
                    | "rsqrt_estimate"
                    | "rsqrt_native"
                    | "rsqrt_estimate_double"
                    | "logb"
                    | "significand"
                    | "quotient_estimate"
                    | "powered"
                    | "scaled_float"
                    | "scaled_double"
                    | "fuses_sums"
            )
    })
}
