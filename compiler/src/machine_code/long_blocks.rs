//! Long blocks become chains of shorter ones.
//!
//! Several passes of LLVM's code generation take time in the square of a block's length: the one that makes instructions of two
//! addresses follows each value through all copies of its block, the scheduler compares each write of the flags with all
//! others (`docs/experiments/compile-time.md`).
//!
//! Requires: a module behind all passes that join blocks.
//! Ensures: no block has more than about [`PIECE`] instructions, but for φs and allocations at its head. Code generation does
//! not join the pieces: an empty piece of assembly uses their addresses, for which no code is made.
//! Phases: each block by itself, from its head.
//! Source: our own.
//!
//! ```text
//! loop:  %x = phi [0, %entry], [%z, %loop]    loop:  %x = phi [0, %entry], [%z, %rest]
//!        %y = …                                      %y = …
//!        %z = …                                      asm "" (address of %rest)
//!        br c, %loop, %done                =>         br %rest
//!                                             rest:  %z = …
//!                                                    br c, %loop, %done
//! ```

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::values::{InstructionOpcode, InstructionValue};

/// Instructions from which on a block is long.
const LONG_BLOCK: usize = 2000;

/// Instructions that a piece of a long block has.
const PIECE: usize = 500;

/// Splits the long blocks of all functions. Whether there was one.
pub fn split_long_blocks(module: &Module<'_>) -> Result<bool, BuilderError> {
    let builder = module.get_context().create_builder();
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    let long_blocks: Vec<_> = blocks.filter(|block| block.get_instructions().count() > LONG_BLOCK).collect();
    long_blocks.iter().try_for_each(|&block| split_block(&builder, block))?;
    Ok(!long_blocks.is_empty())
}

/// Moves all but the last instructions of a block, piece by piece, into new blocks in front of it. So what its terminator leads
/// to still is entered from it.
fn split_block<'ctx>(builder: &Builder<'ctx>, block: BasicBlock<'ctx>) -> Result<(), BuilderError> {
    let Some(terminator) = block.get_terminator() else { return Ok(()) };
    // Whoever enters the block is to enter its first piece; without a terminator it enters nothing meanwhile.
    terminator.remove_from_basic_block();
    let mut piece_length = PIECE.max(head_length(block));
    let mut remaining = block.get_instructions().count();
    while remaining > piece_length {
        let piece = block.get_context().prepend_basic_block(block, "");
        block.replace_all_uses_with(&piece);
        builder.position_at_end(piece);
        for instruction in (0..piece_length).map_while(|_| block.get_first_instruction()) {
            instruction.remove_from_basic_block();
            builder.insert_instruction(&instruction, None);
        }
        use_address(builder, block)?;
        builder.build_unconditional_branch(block)?;
        remaining -= piece_length;
        piece_length = PIECE;
    }
    builder.position_at_end(block);
    builder.insert_instruction(&terminator, None);
    Ok(())
}

/// Emits an empty piece of assembly that uses a block's address: nobody jumps to it, but whoever joins blocks has to assume so.
fn use_address<'ctx>(builder: &Builder<'ctx>, block: BasicBlock<'ctx>) -> Result<(), BuilderError> {
    // SAFETY: LLVM's type of the address promises that nothing but code generation looks at it: no instruction is made of it.
    let Some(address) = (unsafe { block.get_address() }) else { return Ok(()) };
    let context = block.get_context();
    let function_type = context.void_type().fn_type(&[address.get_type().into()], false);
    let assembly = context.create_inline_asm(function_type, String::new(), "i".to_owned(), true, false, None, false);
    builder.build_indirect_call(function_type, assembly, &[address.into()], "")?;
    Ok(())
}

/// How many instructions have to stay at the head of a block: φs, and allocations, which behind a function's first block would be
/// made anew each time.
fn head_length(block: BasicBlock<'_>) -> usize {
    let stays = |instruction: InstructionValue<'_>| {
        matches!(instruction.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::Alloca)
    };
    let positions = block.get_instructions().zip(1..).filter(|&(instruction, _)| stays(instruction));
    positions.last().map_or(0, |(_, length)| length)
}

#[cfg(test)]
mod tests {
    use super::super::{HostMachine, OptLevel, assembly_text};
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// A loop of one block that adds so many times.
    fn adding_loop(additions: usize) -> String {
        let mut text = "define i32 @f(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x0 = phi i32 [ %n, %entry ], [ %last, %loop ]
"
        .to_owned();
        for addition in 1..=additions {
            text += &format!("  %x{addition} = add i32 %x{}, {addition}\n", addition - 1);
        }
        text + &format!(
            "  %last = xor i32 %x{additions}, %i
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 3
  br i1 %done, label %exit, label %loop
exit:
  %result = phi i32 [ %last, %loop ]
  ret i32 %result
}}
"
        )
    }

    fn split_module<'ctx>(context: &'ctx Context, text: &str) -> (Module<'ctx>, bool) {
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let has_split = split_long_blocks(&module).unwrap();
        module.verify().unwrap();
        (module, has_split)
    }

    #[test]
    fn short_blocks_stay_as_they_are() {
        let context = Context::create();
        let (module, has_split) = split_module(&context, &adding_loop(LONG_BLOCK - 6));
        assert!(!has_split);
        assert_eq!(module.get_function("f").unwrap().count_basic_blocks(), 3);
    }

    #[test]
    fn a_loop_of_one_long_block_becomes_a_chain_in_the_same_order() {
        let context = Context::create();
        let (module, has_split) = split_module(&context, &adding_loop(5 * PIECE));
        assert!(has_split);
        let blocks = module.get_function("f").unwrap().get_basic_blocks();
        assert_eq!(blocks.len(), 2 + 6);
        assert!(blocks.iter().all(|block| block.get_instructions().count() <= PIECE + 2));
        let constants: Vec<_> = blocks
            .iter()
            .flat_map(|block| block.get_instructions())
            .filter(|instruction| instruction.get_opcode() == InstructionOpcode::Add)
            .filter_map(|instruction| {
                instruction.get_operand(1)?.value()?.into_int_value().get_zero_extended_constant()
            })
            .collect();
        assert_eq!(constants, (1..=5 * PIECE as u64).chain([1]).collect::<Vec<_>>());
    }

    #[test]
    fn code_generation_does_not_join_the_pieces() {
        let context = Context::create();
        let machine = HostMachine::new(OptLevel::Default, None).unwrap();
        let (module, _) = split_module(&context, &adding_loop(5 * PIECE));
        let assembly = assembly_text(&module, &machine).unwrap();
        // Blocks that control falls into have no label unless their address is used.
        assert_eq!(assembly.lines().filter(|line| line.starts_with(".Ltmp")).count(), 5, "{}", &assembly[..400]);
    }

    #[test]
    fn allocations_stay_in_the_first_block() {
        let context = Context::create();
        let stores = "  store i32 1, ptr %p\n".repeat(LONG_BLOCK);
        let text = format!(
            "define void @f() {{\n  %p = alloca i32\n{stores}  %q = alloca i32\n  store i32 2, ptr %q\n  ret void\n}}\n"
        );
        let (module, has_split) = split_module(&context, &text);
        assert!(has_split);
        let first_block = module.get_function("f").unwrap().get_first_basic_block().unwrap();
        assert_eq!(first_block.get_instructions().count(), LONG_BLOCK + 4);
    }
}
