//! Which of LLVM's passes are left out of code generation and of clean-up, and of what.
//!
//! LLVM has flags for that, which are those of a process. They are set for one piece of code and what they were afterwards, so what a process
//! made before does not matter.

use std::ffi::{CStr, c_char, c_int};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

// They are in `codegen_flags.cpp`.
unsafe extern "C" {
    fn lockstep_set_flag(name: *const c_char, value: *const c_char) -> c_int;
    fn lockstep_reset_flag(name: *const c_char);
}

/// What makes passes not worth their time, or harmful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeanReason {
    /// Machine LICM compares each constant that it takes out of a loop with all others, and where they are more than registers,
    /// register allocation takes as long again to put them back.
    LongBlocks,
    /// The scheduler behind register allocation, which LLVM runs for some models of processors (AMD's), took 0.88 of 2.06 s of a
    /// kernel of 5,000 instructions. Such processors reorder instructions themselves. Machine LICM takes all constants out of the loop over
    /// gangs, far more than there are registers. Where many ways meet, the coalescer joins a variable with the copies of each of them,
    /// which it looks at anew for each: of a function with 1,600 switches (a password cracker's, which moves bytes by distances) it took 9.1
    /// of 10.3 s, 0.7 s if it may join a variable of more than 100 values 8 times. Where a block keeps far more values than there are
    /// registers, allocation gives up less of what it has done if it begins with those that live shortly: of 1,000 values in a loop code
    /// generation takes 0.44 s in the place of 0.51. Loop strength reduction took 1.2 of 2.9 s of 411 regions with loops over gangs, whose
    /// addresses are a base and an index with it and without.
    ManyInstructions,
    /// The placement of blocks takes the square of a switch's cases: 2.2 of 2.5 s for 3,000.
    LongSwitches,
    /// Of loops in each other, these passes walk over all blocks for each of them: 0.9 of 2.1 s for 1,000. Of loops behind each other,
    /// machine CSE looks at all uses of a constant for each of them, and machine sinking at all cycles: 1.4 of 3.3 s for 2,000 calls of a
    /// function with a loop.
    ManyLoops,
    /// `instcombine` moves a chain of operations to where its result is used, behind all loops between, and what it reads of each of
    /// them lives until then: of a kernel with 500 calls of functions with loops, vectors of 63 KB, and twice as many were too much for a gang.
    FarUses,
    /// Scalar evolution makes one sum of a sum of sums, of up to 500 values, and does so for each of them: of 268 calls of a function with a
    /// loop, each of which changes the same value, 62 of 342 ms of clean-up.
    LongSums,
    /// Code that is wanted at once, and is replaced when it has run for 2 ms: these passes take a fifth of code generation.
    WantedAtOnce,
}

impl LeanReason {
    /// LLVM's flags, and what they are set to, in the text of a command line.
    fn flags(self) -> &'static [(&'static CStr, &'static CStr)] {
        match self {
            LeanReason::LongBlocks => &[(c"disable-machine-licm", c"true")],
            LeanReason::ManyInstructions => &[
                (c"post-RA-scheduler", c"false"),
                (c"disable-machine-licm", c"true"),
                (c"large-interval-freq-threshold", c"8"),
                (c"greedy-reverse-local-assignment", c"true"),
                (c"disable-lsr", c"true"),
            ],
            LeanReason::LongSwitches => &[(c"disable-block-placement", c"true")],
            LeanReason::ManyLoops => &[
                (c"disable-machine-licm", c"true"),
                (c"disable-block-placement", c"true"),
                (c"disable-lsr", c"true"),
                (c"disable-machine-cse", c"true"),
                (c"disable-machine-sink", c"true"),
            ],
            LeanReason::FarUses => &[(c"instcombine-code-sinking", c"false")],
            LeanReason::LongSums => &[(c"scev-addops-inline-threshold", c"32")],
            LeanReason::WantedAtOnce => &[
                (c"disable-lsr", c"true"),
                (c"disable-machine-licm", c"true"),
                (c"disable-machine-cse", c"true"),
                (c"enable-misched", c"false"),
            ],
        }
    }
}

/// The flags are this process's: who generates code reads them.
static FLAGS: RwLock<()> = RwLock::new(());

/// LLVM's flags while passes run; they are what they were when it is dropped.
pub(crate) struct CodegenFlags {
    changed: Vec<&'static CStr>,
    _guard: FlagsGuard,
}

/// Whether others may generate code meanwhile.
enum FlagsGuard {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl CodegenFlags {
    /// Leaves out what these reasons say.
    pub(crate) fn for_reasons(reasons: &[LeanReason]) -> CodegenFlags {
        if reasons.is_empty() {
            let guard = FLAGS.read().unwrap_or_else(PoisonError::into_inner);
            return CodegenFlags { changed: Vec::new(), _guard: FlagsGuard::Shared { _guard: guard } };
        }
        let guard = FLAGS.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for &(name, value) in reasons.iter().flat_map(|reason| reason.flags()) {
            // SAFETY: name and value are terminated texts; nobody reads the flags while the lock is held for writing.
            let is_known = unsafe { lockstep_set_flag(name.as_ptr(), value.as_ptr()) } != 0;
            debug_assert!(is_known, "LLVM has no flag {name:?}");
            changed.push(name);
        }
        CodegenFlags { changed, _guard: FlagsGuard::Alone { _guard: guard } }
    }
}

impl Drop for CodegenFlags {
    fn drop(&mut self) {
        for name in &self.changed {
            // SAFETY: as above; the lock is released after this.
            unsafe { lockstep_reset_flag(name.as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HostMachine, OptLevel, emit_object};
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// A loop with constants, addresses and values that are computed twice, for all passes that may be left out.
    const LOOP: &str = "define void @f(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %a, i64 %i
  %q = getelementptr double, ptr %b, i64 %i
  %x = load double, ptr %p
  %y = load double, ptr %q
  %s = fmul double %x, 3.25
  %t = fmul double %y, 7.125
  %u = fadd double %s, %t
  %v = fsub double %s, 1.5
  store double %u, ptr %p
  store double %v, ptr %q
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
";

    fn make_object(opt_level: OptLevel) -> Vec<u8> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(LOOP.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        let machine = HostMachine::new(opt_level, None).unwrap();
        machine.adopt_module(&module);
        emit_object(&module, &machine).unwrap().bytes
    }

    #[test]
    fn code_does_not_depend_on_what_was_made_before() {
        let before = make_object(OptLevel::Default);
        assert_ne!(make_object(OptLevel::Less), before, "passes were left out");
        assert_eq!(make_object(OptLevel::Default), before);
        for reason in
            [LeanReason::LongBlocks, LeanReason::ManyInstructions, LeanReason::LongSwitches, LeanReason::ManyLoops]
        {
            drop(CodegenFlags::for_reasons(&[reason]));
            assert_eq!(make_object(OptLevel::Default), before, "{reason:?}");
        }
    }
}
