//! Stores with which both sides of a branch end, to one address.
//!
//! What `if (c) out[i] = a; else out[i] = b;` stores is one of two values, at one place. LLVM makes one store of it where it
//! sees that the place is one: so the address is computed before the branch if both sides compute it in the same way. A gang
//! then has one store without a mask and not two with one.
//!
//! Requires: functions with everything inlined and variables promoted.
//! Ensures: where both sides of a branch that meet behind it end with plain stores whose addresses are the same arithmetic of
//! the same values, these are one value from before the branch. What is stored, and in which order, stays.
//! Phases: the branches; for each the stores from the last pair on, as long as their addresses are the same.
//! Source: ours; LLVM's `instcombine` makes one store of two behind it.

use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMValueRef};
use llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};

/// Steps of an address that are compared.
const DEEPEST: u32 = 8;

/// Makes the addresses of such stores one value.
pub(crate) fn share_addresses(function: FunctionValue<'_>) {
    // SAFETY: the blocks belong to a live function; the builder lives as long as it is used.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(raw_value(function))));
        for block in function.get_basic_block_iter() {
            let branch = LLVMGetBasicBlockTerminator(block.as_mut_ptr());
            if let Some(sides) = branch_sides(branch) {
                share_last(branch, sides, builder);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

fn raw_value(function: FunctionValue<'_>) -> LLVMValueRef {
    use inkwell::values::AsValueRef;
    function.as_value_ref()
}

/// Both sides of a branch, if nothing else leads to them and they meet behind it.
///
/// # Safety
/// The branch is that of a block of a live function, or null.
unsafe fn branch_sides(branch: LLVMValueRef) -> Option<[LLVMBasicBlockRef; 2]> {
    // SAFETY: as promised; the successors of its terminators are blocks of the same function.
    unsafe {
        if branch.is_null() || LLVMGetInstructionOpcode(branch) != LLVMOpcode::LLVMBr || LLVMIsConditional(branch) == 0
        {
            return None;
        }
        let sides = [0, 1].map(|side_index| LLVMGetSuccessor(branch, side_index));
        let [first, second] = sides.map(|side| only_successor(side));
        (sides[0] != sides[1] && first.is_some() && first == second).then_some(sides)
    }
}

/// Where a block leads to that nothing else than a branch leads to, if it always leads there.
///
/// # Safety
/// The block is one of a live function.
unsafe fn only_successor(block: LLVMBasicBlockRef) -> Option<LLVMBasicBlockRef> {
    // SAFETY: as promised.
    unsafe {
        let first_use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        let terminator = LLVMGetBasicBlockTerminator(block);
        let is_used_once = !first_use.is_null() && LLVMGetNextUse(first_use).is_null();
        (is_used_once && LLVMGetNumSuccessors(terminator) == 1).then(|| LLVMGetSuccessor(terminator, 0))
    }
}

/// The same for the stores at the end of two blocks, as far as they are pairs.
///
/// # Safety
/// The blocks are the branch's two sides, of which nothing else knows; all are alive.
unsafe fn share_last(branch: LLVMValueRef, sides: [LLVMBasicBlockRef; 2], builder: LLVMBuilderRef) {
    // SAFETY: as promised. What is moved is computed from values that are there before the branch, and has no effects.
    unsafe {
        let mut side_ends = sides.map(|side| LLVMGetBasicBlockTerminator(side));
        loop {
            let stores = side_ends.map(|end| LLVMGetPreviousInstruction(end));
            if !stores.iter().all(|&store_instruction| is_plain_store(store_instruction)) {
                return;
            }
            let [first_address, second_address] = stores.map(|store_instruction| LLVMGetOperand(store_instruction, 1));
            let value_types = stores.map(|store_instruction| LLVMTypeOf(LLVMGetOperand(store_instruction, 0)));
            let mut steps = Vec::new();
            if value_types[0] != value_types[1]
                || !computed_alike(first_address, second_address, sides, DEEPEST, &mut steps)
            {
                return;
            }
            for &(step, _) in &steps {
                if LLVMGetInstructionParent(step) == sides[0] {
                    LLVMInstructionRemoveFromParent(step);
                    LLVMPositionBuilderBefore(builder, branch);
                    LLVMInsertIntoBuilder(builder, step);
                }
            }
            LLVMSetOperand(stores[1], 1, first_address);
            // From the last on, as each is used by those behind it.
            for &(step, other) in steps.iter().rev() {
                LLVMReplaceAllUsesWith(other, step);
            }
            let mut dead_steps: Vec<_> = steps.into_iter().map(|(_, other)| other).collect();
            dead_steps.dedup();
            while let Some(other) = dead_steps.pop() {
                if !dead_steps.contains(&other) {
                    LLVMInstructionEraseFromParent(other);
                }
            }
            side_ends = stores;
        }
    }
}

/// # Safety
/// The instruction is one of a live function, or null.
unsafe fn is_plain_store(instruction: LLVMValueRef) -> bool {
    // SAFETY: as promised.
    unsafe {
        !instruction.is_null()
            && LLVMGetInstructionOpcode(instruction) == LLVMOpcode::LLVMStore
            && LLVMGetVolatile(instruction) == 0
            && LLVMGetOrdering(instruction) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }
}

/// Whether two values of the sides are computed in the same way; `steps` gets those that are, what they need first.
///
/// # Safety
/// Both are values of a live function of which the sides are blocks.
unsafe fn computed_alike(
    left: LLVMValueRef,
    right: LLVMValueRef,
    sides: [LLVMBasicBlockRef; 2],
    depth: u32,
    steps: &mut Vec<(LLVMValueRef, LLVMValueRef)>,
) -> bool {
    use LLVMOpcode::*;
    // SAFETY: as promised; each question is asked of what it may be asked of.
    unsafe {
        if left == right || steps.contains(&(left, right)) {
            return true;
        }
        let is_inside = |value, side| !LLVMIsAInstruction(value).is_null() && LLVMGetInstructionParent(value) == side;
        if depth == 0 || !is_inside(left, sides[0]) || !is_inside(right, sides[1]) {
            return false;
        }
        let opcode = LLVMGetInstructionOpcode(left);
        let wrap_flags = |instruction| (LLVMGetNSW(instruction), LLVMGetNUW(instruction));
        let same_flags = match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl => wrap_flags(left) == wrap_flags(right),
            LLVMGetElementPtr => {
                LLVMGetGEPSourceElementType(left) == LLVMGetGEPSourceElementType(right)
                    && LLVMGEPGetNoWrapFlags(left) == LLVMGEPGetNoWrapFlags(right)
            }
            LLVMZExt => LLVMGetNNeg(left) == LLVMGetNNeg(right),
            LLVMSExt | LLVMAnd | LLVMAddrSpaceCast => true,
            _ => false,
        };
        let operand_count = LLVMGetNumOperands(left);
        let is_alike = LLVMGetInstructionOpcode(right) == opcode
            && same_flags
            && LLVMTypeOf(left) == LLVMTypeOf(right)
            && LLVMGetNumOperands(right) == operand_count;
        let operands = |instruction| {
            (0..operand_count as u32).map(move |operand_index| LLVMGetOperand(instruction, operand_index))
        };
        // A step of one side must not stand for two of the other.
        let is_new = !steps.iter().any(|&(left_step, right_step)| left_step == left || right_step == right);
        if !is_alike
            || !is_new
            || !operands(left)
                .zip(operands(right))
                .all(|(left, right)| computed_alike(left, right, sides, depth - 1, steps))
        {
            return false;
        }
        steps.push((left, right));
        true
    }
}
