//! Links objects into memory through LLVM's ORC.
//!
//! One ORC session serves a loader, and one loader the process: a session of its own costs 600 µs, a link in a shared one
//! 40 µs (measured with LLVM 22). Every object gets a library of its own in it, so that objects can use the same names; ORC
//! cannot remove libraries through its C interface, so they go back to a pool when their object is gone.
//!
//! A library sees the table that the loader was given and itself. The process is never searched.

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::OnceLock;

use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::LLVMErrorRef;
use llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcCreateLLJITBuilder, LLVMOrcLLJITAddObjectFileWithRT, LLVMOrcLLJITGetExecutionSession,
    LLVMOrcLLJITRef,
};
use llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMJITSymbolGenericFlags, LLVMOrcAbsoluteSymbols,
    LLVMOrcCJITDylibSearchOrderElement, LLVMOrcCLookupSetElement, LLVMOrcCSymbolMapPair, LLVMOrcCSymbolMapPairs,
    LLVMOrcExecutionSessionCreateBareJITDylib, LLVMOrcExecutionSessionGetSymbolStringPool,
    LLVMOrcExecutionSessionIntern, LLVMOrcExecutionSessionLookup, LLVMOrcExecutionSessionRef,
    LLVMOrcExecutionSessionSetErrorReporter, LLVMOrcJITDylibCreateResourceTracker, LLVMOrcJITDylibDefine,
    LLVMOrcJITDylibLookupFlags, LLVMOrcJITDylibRef, LLVMOrcLookupKind, LLVMOrcReleaseResourceTracker,
    LLVMOrcResourceTrackerRef, LLVMOrcResourceTrackerRemove, LLVMOrcSymbolLookupFlags,
    LLVMOrcSymbolStringPoolClearDeadEntries,
};
use parking_lot::Mutex;

use super::error::JitError;
use super::host;
use super::process_end::{ENDING, Work};
use crate::frontend::llvm::check_error;

/// Machine code in memory. It is freed when this is dropped, so whoever runs it must keep this alive.
pub struct JitCode {
    session: &'static Session,
    dylib: Library,
    tracker: LLVMOrcResourceTrackerRef,
    address: usize,
    object_size: usize,
}

// SAFETY: the code does not change, and the handles are only used by `drop`, through functions of ORC that lock.
unsafe impl Send for JitCode {}
// SAFETY: as above; shared access only reads numbers.
unsafe impl Sync for JitCode {}

impl JitCode {
    /// Where the entry function is.
    pub fn entry_address(&self) -> *const c_void {
        self.address as *const c_void
    }

    /// The size of the object that was loaded, in bytes: about what it takes in memory.
    pub fn object_size(&self) -> usize {
        self.object_size
    }
}

impl fmt::Debug for JitCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "JitCode({:#x}, object of {} bytes)", self.address, self.object_size)
    }
}

impl Drop for JitCode {
    fn drop(&mut self) {
        self.session.unload(self.dylib, self.tracker);
    }
}

/// Every name that code may call, with the function's address.
pub type Symbols = fn() -> Vec<(&'static str, usize)>;

/// Links objects into memory. A process wants one.
pub struct Loader {
    symbols: Symbols,
    session: OnceLock<Result<Session, String>>,
}

impl Loader {
    /// A loader of code that may call these functions and nothing else.
    pub const fn new(symbols: Symbols) -> Loader {
        Loader { symbols, session: OnceLock::new() }
    }

    /// Links an object and finds `entry_name` in it.
    ///
    /// # Errors
    ///
    /// When LLVM cannot link for this machine, the object is broken or calls what it must not, or the process ends.
    pub fn load_object(&'static self, object: &[u8], entry_name: &str) -> Result<JitCode, JitError> {
        let _under_way = Work::begin().ok_or_else(|| JitError::Link(ENDING.to_owned()))?;
        match self.session.get_or_init(|| Session::start(self.symbols)) {
            Ok(session) => session.load(object, entry_name).map_err(JitError::Link),
            Err(error) => Err(JitError::Host(error.clone())),
        }
    }
}

/// One of ORC's libraries: a name space for one object.
#[derive(Clone, Copy)]
struct Library(LLVMOrcJITDylibRef);

struct Session {
    jit: LLVMOrcLLJITRef,
    raw: LLVMOrcExecutionSessionRef,
    pool: Mutex<Pool>,
    symbols: Symbols,
}

#[derive(Default)]
struct Pool {
    free: Vec<Library>,
    made: usize,
}

// SAFETY: ORC's session and libraries lock by themselves; our own list is behind a mutex.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

impl Session {
    fn start(symbols: Symbols) -> Result<Self, String> {
        host::initialize_target();
        let mut lljit = std::ptr::null_mut();
        // SAFETY: the builder is consumed by the call; the session lives as long as the JIT, which is never disposed.
        unsafe {
            check_error(LLVMOrcCreateLLJIT(&mut lljit, LLVMOrcCreateLLJITBuilder()))?;
            let raw_session = LLVMOrcLLJITGetExecutionSession(lljit);
            // The caller of a look-up only learns that it failed; the reporter hears why, and would print it.
            LLVMOrcExecutionSessionSetErrorReporter(raw_session, note_reason, std::ptr::null_mut());
            Ok(Self { jit: lljit, raw: raw_session, pool: Mutex::default(), symbols })
        }
    }

    fn load(&'static self, object: &[u8], entry_name: &str) -> Result<JitCode, String> {
        let entry = CString::new(entry_name).map_err(|error| error.to_string())?;
        let library = self.take_library()?;
        REASONS.take();
        // SAFETY: the library is alive and ours alone. ORC takes the buffer, whatever comes of it.
        let (tracker, add_result) = unsafe {
            let tracker = LLVMOrcJITDylibCreateResourceTracker(library.0);
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), entry.as_ptr());
            (tracker, check_error(LLVMOrcLLJITAddObjectFileWithRT(self.jit, tracker, buffer)))
        };
        match add_result.and_then(|()| self.look_up(library, &entry)) {
            Ok(address) => Ok(JitCode { session: self, dylib: library, tracker, address, object_size: object.len() }),
            Err(error) => {
                self.unload(library, tracker);
                let reason = REASONS.take();
                Err(if reason.is_empty() { error } else { reason })
            }
        }
    }

    fn unload(&self, library: Library, tracker: LLVMOrcResourceTrackerRef) {
        // SAFETY: the tracker is ours; what it tracks is not used any more.
        let removed = unsafe {
            let removed = check_error(LLVMOrcResourceTrackerRemove(tracker));
            LLVMOrcReleaseResourceTracker(tracker);
            LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcExecutionSessionGetSymbolStringPool(self.raw));
            removed
        };
        // A library that did not become empty is not used again.
        if removed.is_ok() {
            self.pool.lock().free.push(library);
        }
    }

    fn take_library(&self) -> Result<Library, String> {
        let library_number = {
            let mut library_pool = self.pool.lock();
            if let Some(library) = library_pool.free.pop() {
                return Ok(library);
            }
            library_pool.made += 1;
            library_pool.made
        };
        let name = CString::new(format!("lockstep{library_number}")).map_err(|error| error.to_string())?;
        // SAFETY: the name is fresh and copied. The look-up of absolute symbols takes over the references to the names.
        unsafe {
            let library = LLVMOrcExecutionSessionCreateBareJITDylib(self.raw, name.as_ptr());
            let symbol_flags = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
                | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8;
            let mut symbol_pairs: Vec<LLVMOrcCSymbolMapPair> = Vec::new();
            for (name, address) in (self.symbols)() {
                let name = CString::new(name).map_err(|error| error.to_string())?;
                symbol_pairs.push(LLVMOrcCSymbolMapPair {
                    Name: LLVMOrcExecutionSessionIntern(self.raw, name.as_ptr()),
                    Sym: LLVMJITEvaluatedSymbol {
                        Address: address as u64,
                        Flags: LLVMJITSymbolFlags { GenericFlags: symbol_flags, TargetFlags: 0 },
                    },
                });
            }
            let materialization_unit = LLVMOrcAbsoluteSymbols(symbol_pairs.as_mut_ptr(), symbol_pairs.len());
            check_error(LLVMOrcJITDylibDefine(library, materialization_unit))?;
            Ok(Library(library))
        }
    }

    fn look_up(&self, library: Library, name: &std::ffi::CStr) -> Result<usize, String> {
        // ORC calls back when the symbol is there. It may do so on a thread of its own, so the answer is waited for.
        let (sender, receiver) = std::sync::mpsc::channel::<Result<usize, String>>();
        let sender = Box::into_raw(Box::new(sender)).cast::<c_void>();
        let mut search_order = [LLVMOrcCJITDylibSearchOrderElement {
            JD: library.0,
            JDLookupFlags: LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchAllSymbols,
        }];
        // SAFETY: order and set are read during the call only. The name's reference is taken over by the set. The
        // answer is called exactly once and frees the sender.
        unsafe {
            let mut lookup_set = [LLVMOrcCLookupSetElement {
                Name: LLVMOrcExecutionSessionIntern(self.raw, name.as_ptr()),
                LookupFlags: LLVMOrcSymbolLookupFlags::LLVMOrcSymbolLookupFlagsRequiredSymbol,
            }];
            LLVMOrcExecutionSessionLookup(
                self.raw,
                LLVMOrcLookupKind::LLVMOrcLookupKindStatic,
                search_order.as_mut_ptr(),
                search_order.len(),
                lookup_set.as_mut_ptr(),
                lookup_set.len(),
                answer,
                sender,
            );
        }
        receiver.recv().unwrap_or_else(|_| Err("the look-up was dropped".to_owned()))
    }
}

thread_local! {
    /// Why the link on this thread failed. ORC links on the thread that looks up.
    static REASONS: RefCell<String> = const { RefCell::new(String::new()) };
}

extern "C" fn note_reason(_: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: the error is handed over to us.
    let Err(reason) = (unsafe { check_error(error) }) else { return };
    REASONS.with_borrow_mut(|reasons| {
        let separator = if reasons.is_empty() { "" } else { "; " };
        *reasons += separator;
        *reasons += &reason;
    });
}

extern "C" fn answer(error: LLVMErrorRef, symbols: LLVMOrcCSymbolMapPairs, symbol_count: usize, sender: *mut c_void) {
    // SAFETY: `sender` is what `look_up` made, and this is called once. Without an error there are `symbol_count` results,
    // which stay ORC's.
    let (sender, lookup_result) = unsafe {
        let sender = Box::from_raw(sender.cast::<std::sync::mpsc::Sender<Result<usize, String>>>());
        let lookup_result = check_error(error).and_then(|()| match symbol_count {
            0 => Err("no such symbol".to_owned()),
            _ => Ok((*symbols).Sym.Address as usize),
        });
        (sender, lookup_result)
    };
    // The receiver waits until this is sent.
    let _ = sender.send(lookup_result);
}
