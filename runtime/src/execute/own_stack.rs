//! A stack for code that takes more of it than the threads of applications may have.
//!
//! Kernels run on whatever thread waits for them, and an application may have given it 64 KiB. What a kernel keeps alive at once and has
//! no registers for lies on the stack, for all lanes of a gang. So code whose frames are large runs on a stack that each thread keeps for it.

use std::cell::RefCell;

use corosensei::on_stack;
use corosensei::stack::{DefaultStack, Stack};

/// Bytes of frames that any thread has room for.
const MOST_ON_THREAD: u64 = 16 << 10;

/// Bytes for what code calls: functions of the C library, printf.
const ROOM_FOR_CALLS: u64 = 256 << 10;

/// Most bytes of frames. Code that is not damaged takes far less.
const MOST: u64 = 1 << 30;

/// There is no memory for such a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfStack;

thread_local! {
    static KEPT: RefCell<Option<DefaultStack>> = const { RefCell::new(None) };
}

/// Runs a body whose frames take so many bytes of the stack: on the thread's own, or on one with room for them.
///
/// # Errors
/// [`OutOfStack`] where the body did not run for want of memory.
pub fn run_with_stack<R>(frame_bytes: u64, body: impl FnOnce() -> R) -> Result<R, OutOfStack> {
    if frame_bytes <= MOST_ON_THREAD {
        return Ok(body());
    }
    let mut stack = take_stack(frame_bytes)?;
    let result = on_stack(&mut stack, body);
    keep_stack(stack);
    Ok(result)
}

/// A stack with room for frames of so many bytes: the one that the thread keeps, if it suffices. A body within a body finds none and gets
/// another.
pub(super) fn take_stack(frame_bytes: u64) -> Result<DefaultStack, OutOfStack> {
    if frame_bytes > MOST {
        return Err(OutOfStack);
    }
    let bytes = (frame_bytes + ROOM_FOR_CALLS) as usize;
    match KEPT.with(|kept| kept.borrow_mut().take()).filter(|stack| size_of_stack(stack) >= bytes) {
        Some(stack) => Ok(stack),
        None => DefaultStack::new(bytes).map_err(|_| OutOfStack),
    }
}

/// Gives a stack back to the thread.
pub(super) fn keep_stack(stack: DefaultStack) {
    KEPT.with(|kept| *kept.borrow_mut() = Some(stack));
}

fn size_of_stack(stack: &DefaultStack) -> usize {
    stack.base().get() - stack.limit().get()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes of the stack, and has something for each of them. It is not to be part of its caller's frame, which may lie on
    /// another stack.
    #[inline(never)]
    fn fill_frame<const BYTES: usize>(seed: u8) -> usize {
        let frame = std::hint::black_box([seed; BYTES]);
        frame.iter().map(|&byte| usize::from(byte)).sum()
    }

    fn on_small_thread(body: impl FnOnce() + Send + 'static) {
        std::thread::Builder::new().stack_size(64 << 10).spawn(body).unwrap().join().unwrap();
    }

    #[test]
    fn large_frames_fit_on_small_threads() {
        on_small_thread(|| {
            for _ in 0..2 {
                assert_eq!(run_with_stack(1 << 20, || fill_frame::<{ 1 << 20 }>(3)), Ok(3 << 20));
                assert_eq!(run_with_stack(2 << 20, || fill_frame::<{ 2 << 20 }>(1)), Ok(2 << 20));
            }
        });
    }

    #[test]
    fn bodies_within_bodies_have_stacks_of_their_own() {
        on_small_thread(|| {
            let inner = || run_with_stack(1 << 20, || fill_frame::<{ 1 << 20 }>(1));
            let outer = run_with_stack(1 << 20, || (fill_frame::<{ 1 << 20 }>(2), inner()));
            assert_eq!(outer, Ok((2 << 20, Ok(1 << 20))));
        });
    }

    #[test]
    fn more_than_there_may_be_is_refused() {
        for bytes in [MOST + 1, u64::MAX] {
            assert_eq!(run_with_stack(bytes, || ()), Err(OutOfStack));
        }
    }

    #[test]
    fn little_runs_on_the_threads_own_stack() {
        let local = 0_u8;
        let distance = |bytes| {
            run_with_stack(bytes, || {
                let inner = 0_u8;
                (std::ptr::from_ref(&inner) as usize).abs_diff(std::ptr::from_ref(&local) as usize)
            })
        };
        assert!(distance(MOST_ON_THREAD).unwrap() < 1 << 16);
        assert!(distance(MOST_ON_THREAD + 1).unwrap() > 1 << 16);
    }
}
