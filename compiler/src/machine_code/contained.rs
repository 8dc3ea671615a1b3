//! Work of LLVM on threads of their own: what LLVM takes for the end of the process ends no more than its thread.
//!
//! LLVM calls a handler for what it did not expect, an instruction that it cannot select for one, and ends the process
//! should the handler return. So it does not: the thread sleeps for good, with what it holds, and whoever waits for it
//! hears LLVM's last words. The work owns what it needs, as that is never given back.
//!
//! The thread's stack is also one that LLVM's passes over long kernels fit in, whatever the application's threads have.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use parking_lot::Mutex;

use super::process_end::{ENDING, Work};

/// Bytes of the stack of a thread that may compile: LLVM's passes go deep into long kernels.
const STACK: usize = 16 << 20;

/// Work that takes longer leaves enough memory behind for a search of the heap to be worth it: that takes 0.5 to 6 ms.
const LONG: Duration = Duration::from_millis(200);

/// Who hears LLVM's last words.
type Listener = Box<dyn Fn(String)>;

thread_local! {
    /// That of this thread, and the work that it hears of.
    static LISTENER: RefCell<Option<(Listener, Work)>> = const { RefCell::new(None) };
}

/// How work ended.
enum Ending<T> {
    Done(T),
    Panicked(Box<dyn Any + Send>),
    GivenUp(String),
}

/// Does the work on a thread of its own and waits for its result, which is LLVM's last words should it give up. A panic is
/// passed on. Where the system refuses a thread the caller does the work, and LLVM may end the process. Nothing is begun
/// while another thread ends it.
pub fn run_contained<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    static INSTALL: Once = Once::new();
    // SAFETY: the handler is a function, and one that does not unwind.
    INSTALL.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(last_words)) });
    let under_way = Work::begin().ok_or(ENDING)?;
    let (sender, endings) = channel();
    // Shared, so that it is still there when there is no thread.
    let remaining_work = Arc::new(Mutex::new(Some(action)));
    let shared_work = remaining_work.clone();
    let perform = move || {
        let remaining_work = shared_work.lock().take();
        remaining_work.map(|action| perform_work(action, under_way, &sender))
    };
    let thread = thread::Builder::new().name("lockstep-llvm".into()).stack_size(STACK);
    if thread.spawn(perform).is_err() {
        let remaining_work = remaining_work.lock().take();
        let _under_way = Work::begin().ok_or(ENDING)?;
        return remaining_work.map(|action| action()).ok_or_else(|| "no thread".to_owned());
    }
    match endings.recv() {
        Ok(Ending::Done(result)) => Ok(result),
        Ok(Ending::Panicked(panic)) => resume_unwind(panic),
        Ok(Ending::GivenUp(words)) => Err(words),
        Err(_) => Err("its thread has gone".to_owned()),
    }
}

/// Does the work on a thread of its own, and tells how it ended.
fn perform_work<T: 'static>(action: impl FnOnce() -> T, under_way: Work, sender: &Sender<Ending<T>>) {
    listen_for_panic(sender.clone(), under_way);
    let started = Instant::now();
    let ending = catch_unwind(AssertUnwindSafe(action)).map_or_else(Ending::Panicked, Ending::Done);
    LISTENER.with(|listener| listener.take());
    if started.elapsed() > LONG {
        give_back_memory();
    }
    // The caller waits for it.
    let _ = sender.send(ending);
}

/// Gives the system back what LLVM allocated and freed. Each thread allocates from a heap of its own, which the next one's
/// work does not use: of a password cracker's kernels the process grew to 593 MB, and grows to 473 MB so.
fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn listen_for_panic<T: 'static>(sender: Sender<Ending<T>>, under_way: Work) {
    let tell_listener = move |last_words| {
        let _ = sender.send(Ending::GivenUp(last_words));
    };
    LISTENER.with(|listener| listener.replace(Some((Box::new(tell_listener), under_way))));
}

/// LLVM's handler of fatal errors.
extern "C" fn last_words(reason: *const c_char) {
    // SAFETY: LLVM hands in a string that lives until this returns, or null.
    let message = (!reason.is_null()).then(|| unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned());
    let message = message.unwrap_or_default();
    let listener =
        LISTENER.try_with(|listener| listener.try_borrow_mut().ok().and_then(|mut listener| listener.take()));
    let Ok(Some((tell_listener, under_way))) = listener else {
        // Somebody else's work: it goes as without a handler.
        eprintln!("LLVM ERROR: {message}");
        return;
    };
    tell_listener(message);
    drop(under_way);
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;

    use super::super::{HostMachine, OptLevel, emit_object};
    use super::*;

    /// Makes code of a function that calls this intrinsic.
    fn code_with(intrinsic: &'static str) -> Result<Result<Vec<u8>, String>, String> {
        run_contained(move || {
            let context = Context::create();
            let module = context.create_module("m");
            let int_type = context.i32_type();
            let callee = module.add_function(intrinsic, int_type.fn_type(&[int_type.into()], false), None);
            let function = module.add_function("f", int_type.fn_type(&[int_type.into()], false), None);
            let builder = context.create_builder();
            builder.position_at_end(context.append_basic_block(function, "entry"));
            let argument = function.get_first_param().ok_or("no parameter")?;
            let call_site = builder.build_call(callee, &[argument.into()], "x").map_err(|error| error.to_string())?;
            let value = call_site.try_as_basic_value().basic().ok_or("no value")?;
            builder.build_return(Some(&value)).map_err(|error| error.to_string())?;
            let machine = HostMachine::new(OptLevel::Default, None).map_err(|error| error.to_string())?;
            machine.adopt_module(&module);
            emit_object(&module, &machine).map_err(|error| error.to_string())
        })
    }

    #[test]
    fn llvm_giving_up_ends_its_thread_only() {
        // What another processor has and this one does not.
        let words = code_with("llvm.amdgcn.readfirstlane.i32").expect_err("there is no such instruction here");
        assert!(words.contains("annot select"), "{words}");
        // And others go on.
        let code = code_with("llvm.bswap.i32").expect("LLVM has code for it").expect("it does");
        assert!(!code.is_empty());
    }

    #[test]
    fn results_and_panics_come_back() {
        assert_eq!(run_contained(|| 7), Ok(7));
        let panic = catch_unwind(|| run_contained(|| -> i32 { panic!("on purpose") })).expect_err("it is passed on");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
