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
        let sides = [0, 1].map(|side| LLVMGetSuccessor(branch, side));
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
        let uses = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        let terminator = LLVMGetBasicBlockTerminator(block);
        let is_used_once = !uses.is_null() && LLVMGetNextUse(uses).is_null();
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
        let mut ends = sides.map(|side| LLVMGetBasicBlockTerminator(side));
        loop {
            let stores = ends.map(|end| LLVMGetPreviousInstruction(end));
            if !stores.iter().all(|&store_instruction| is_plain_store(store_instruction)) {
                return;
            }
            let [first, second] = stores.map(|store_instruction| LLVMGetOperand(store_instruction, 1));
            let types = stores.map(|store_instruction| LLVMTypeOf(LLVMGetOperand(store_instruction, 0)));
            let mut steps = Vec::new();
            if types[0] != types[1] || !computed_alike(first, second, sides, DEEPEST, &mut steps) {
                return;
            }
            for &(step, _) in &steps {
                if LLVMGetInstructionParent(step) == sides[0] {
                    LLVMInstructionRemoveFromParent(step);
                    LLVMPositionBuilderBefore(builder, branch);
                    LLVMInsertIntoBuilder(builder, step);
                }
            }
            LLVMSetOperand(stores[1], 1, first);
            // From the last on, as each is used by those behind it.
            for &(step, other) in steps.iter().rev() {
                LLVMReplaceAllUsesWith(other, step);
            }
            let mut dead: Vec<_> = steps.into_iter().map(|(_, other)| other).collect();
            dead.dedup();
            while let Some(other) = dead.pop() {
                if !dead.contains(&other) {
                    LLVMInstructionEraseFromParent(other);
                }
            }
            ends = stores;
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
    a: LLVMValueRef,
    b: LLVMValueRef,
    sides: [LLVMBasicBlockRef; 2],
    depth: u32,
    steps: &mut Vec<(LLVMValueRef, LLVMValueRef)>,
) -> bool {
    use LLVMOpcode::*;
    // SAFETY: as promised; each question is asked of what it may be asked of.
    unsafe {
        if a == b || steps.contains(&(a, b)) {
            return true;
        }
        let inside = |value, side| !LLVMIsAInstruction(value).is_null() && LLVMGetInstructionParent(value) == side;
        if depth == 0 || !inside(a, sides[0]) || !inside(b, sides[1]) {
            return false;
        }
        let opcode = LLVMGetInstructionOpcode(a);
        let wraps = |instruction| (LLVMGetNSW(instruction), LLVMGetNUW(instruction));
        let same_flags = match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl => wraps(a) == wraps(b),
            LLVMGetElementPtr => {
                LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b)
                    && LLVMGEPGetNoWrapFlags(a) == LLVMGEPGetNoWrapFlags(b)
            }
            LLVMZExt => LLVMGetNNeg(a) == LLVMGetNNeg(b),
            LLVMSExt | LLVMAnd | LLVMAddrSpaceCast => true,
            _ => false,
        };
        let count = LLVMGetNumOperands(a);
        let known = LLVMGetInstructionOpcode(b) == opcode
            && same_flags
            && LLVMTypeOf(a) == LLVMTypeOf(b)
            && LLVMGetNumOperands(b) == count;
        let operands = |instruction| (0..count as u32).map(move |number| LLVMGetOperand(instruction, number));
        // A step of one side must not stand for two of the other.
        let new = !steps.iter().any(|&(x, y)| x == a || y == b);
        if !known || !new || !operands(a).zip(operands(b)).all(|(a, b)| computed_alike(a, b, sides, depth - 1, steps)) {
            return false;
        }
        steps.push((a, b));
        true
    }
}
