//! Handles: what the application holds of an object, and how a pointer it passes becomes an `Arc` again.
//!
//! A handle is the address of a [`Slot`], whose first word the ICD loader reads to find the dispatch table. Slots live in
//! one reserved range of addresses that is never unmapped, so any pointer can be judged without following it: it is a
//! handle exactly when it lies in that range on a slot's boundary, and the slot says whether it is in use, by an object
//! of which type. Null, stale, foreign and wrong-type pointers thus give the specification's error, never a crash.
//!
//! The application's reference count lives in the slot. At zero the handle is invalid to the API, although commands may
//! hold the runtime object until they end. Four kinds of objects are kept valid by others, as the specification says: a
//! sub-device by its queues and contexts, a context by everything made in it, a program by its kernels, an event by its command and those that wait for it
//! ([`Object::OUTLIVES`]); their handle stays usable until the object goes. A slot is used again only after its object
//! is gone, and then the longest-free first, so that stale handles are recognised for long.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use lockstep_runtime::api_handle::HandleOperations;
use lockstep_runtime::command_buffer::CommandBuffer;
use lockstep_runtime::command_buffer::launch::RecordedLaunch;
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::event::Event;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::program::Program;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::sampler::Sampler;
use lockstep_runtime::semaphore::Semaphore;
use lockstep_runtime::{ApiHandle, Error, Result, ensure, error};
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{
    CL_INVALID_COMMAND_BUFFER_KHR, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_EVENT,
    CL_INVALID_KERNEL, CL_INVALID_MEM_OBJECT, CL_INVALID_MUTABLE_COMMAND_KHR, CL_INVALID_PLATFORM, CL_INVALID_PROGRAM,
    CL_INVALID_SAMPLER, CL_INVALID_SEMAPHORE_KHR, CL_OUT_OF_HOST_MEMORY, cl_int, cl_uint,
};
use parking_lot::Mutex;

use crate::fork;

/// A runtime object that the application can hold.
pub trait Object: Any + Send + Sync + Sized {
    /// What such an object is called in messages.
    const NAME: &'static str;
    /// The error for a pointer that is no handle of this type.
    const INVALID: cl_int;
    /// Whether the handle stays valid after its last release while other objects hold this one.
    const OUTLIVES: bool = false;
    /// Whether what is called on it runs commands, which a forked child cannot.
    const RUNS: bool = false;
    /// What is done before an object has one reference less.
    const BEFORE_RELEASE: Option<fn(&Arc<Self>)> = None;
    /// Where the object keeps its handle.
    fn api(&self) -> &ApiHandle;
}

/// What the runtime may do with handles of a type.
struct Operations<T>(PhantomData<T>);

impl<T: Object> Operations<T> {
    const ALL: HandleOperations = HandleOperations {
        recycle,
        retain: |handle| retain::<T>(handle as *mut c_void),
        // Held since it was retained, unless the application has released it too often.
        release: |handle| _ = release::<T>(handle as *mut c_void),
    };
}

/// An object of any type.
type Anything = Arc<dyn Any + Send + Sync>;

macro_rules! objects {
    ($($object:ident: $name:literal, $invalid:ident, $context:expr $(, $trait:ident)? $(, before release: $hook:expr)?;)*) => {
        $(impl Object for $object {
            const NAME: &'static str = $name;
            const INVALID: cl_int = $invalid;
            $(const $trait: bool = true;)?
            $(const BEFORE_RELEASE: Option<fn(&Arc<Self>)> = Some($hook);)?
            fn api(&self) -> &ApiHandle {
                &self.api
            }
        })*

        /// What an object is called in messages.
        fn name_of(object: &Anything) -> &'static str {
            match object {
                $(object if object.is::<$object>() => $name,)*
                _ => "object",
            }
        }

        /// The context that an object is, or belongs to.
        fn context_in(object: Anything) -> Option<Arc<Context>> {
            $(let object = match object.downcast::<$object>() {
                Ok(object) => {
                    let context: fn(Arc<$object>) -> Option<Arc<Context>> = $context;
                    return context(object);
                }
                Err(other) => other,
            };)*
            drop(object);
            None
        }
    };
}
objects! {
    Platform: "platform", CL_INVALID_PLATFORM, |_| None;
    Device: "device", CL_INVALID_DEVICE, |_| None, OUTLIVES;
    Context: "context", CL_INVALID_CONTEXT, Some, OUTLIVES;
    Program: "program", CL_INVALID_PROGRAM, |program| Some(program.context().clone()), OUTLIVES;
    Kernel: "kernel", CL_INVALID_KERNEL, |kernel| Some(kernel.program().context().clone());
    Queue: "command queue", CL_INVALID_COMMAND_QUEUE, |queue| Some(queue.context().clone()), RUNS, before release: flush;
    Event: "event", CL_INVALID_EVENT, |event| Some(event.context().clone()), OUTLIVES;
    Memory: "memory object", CL_INVALID_MEM_OBJECT, |memory| Some(memory.context().clone());
    Sampler: "sampler", CL_INVALID_SAMPLER, |sampler| Some(sampler.context.clone());
    Semaphore: "semaphore", CL_INVALID_SEMAPHORE_KHR, |semaphore| Some(semaphore.context().clone());
    CommandBuffer: "command buffer", CL_INVALID_COMMAND_BUFFER_KHR, |buffer| Some(buffer.context().clone());
    RecordedLaunch: "mutable command", CL_INVALID_MUTABLE_COMMAND_KHR, |launch| Some(launch.context().clone());
}

/// Releasing a queue "performs an implicit flush to issue any previously queued OpenCL commands". Nothing is left to flush
/// in a forked child.
fn flush(queue: &Arc<Queue>) {
    if fork::check().is_ok() {
        queue.flush();
    }
}

/// What a handle points to.
#[repr(C, align(64))]
struct Slot {
    /// Read by the ICD loader; must be the first word.
    dispatch: &'static cl_icd_dispatch,
    state: Mutex<State>,
}

enum State {
    Free,
    /// The application holds the object `references` times.
    Live {
        object: Anything,
        references: u32,
    },
    /// The application has released the object; something else still holds it.
    Released(Weak<dyn Any + Send + Sync>),
}

/// The table that the ICD loader finds at every handle. That leads to all entry points, which know of handles: so it is
/// told here by who hands it out, before there is a handle.
static TABLE: OnceLock<&'static cl_icd_dispatch> = OnceLock::new();

/// Says which table handles lead to, unless it has been said before.
pub fn set_table(table: &'static cl_icd_dispatch) {
    let _ = TABLE.set(table);
}

/// The range of addresses handles come from.
struct Slots {
    base: usize,
    capacity: usize,
    /// How many slots have ever been used; these are initialised.
    used: AtomicUsize,
    /// Slots whose object is gone, the longest-free first.
    free: Mutex<VecDeque<usize>>,
}

const SLOT: usize = size_of::<Slot>();
/// Address space for 16 million live objects; less where the process may not have that much, which is not ours to use up.
const RESERVED: usize = SLOT << 24;
const RESERVED_AT_LEAST: usize = SLOT << 12;
/// The part of the address space that a process may have which is reserved at most.
const MOST_OF_LIMIT: usize = 16;
/// So many slots lie free before the first of them is used again.
const QUARANTINE: usize = 4096;

/// Bytes of address space that this process may have.
fn address_space_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` may be written. Should the call fail it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

impl Slots {
    fn get() -> &'static Self {
        static SLOTS: OnceLock<Slots> = OnceLock::new();
        SLOTS.get_or_init(Self::reserve)
    }

    fn reserve() -> Self {
        let mut length = RESERVED.min(address_space_limit() / MOST_OF_LIMIT).max(RESERVED_AT_LEAST);
        let (base, capacity) = loop {
            let (access, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
            // SAFETY: a fresh anonymous mapping touches nothing that exists.
            let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
            if base != libc::MAP_FAILED {
                break (base as usize, length / SLOT);
            }
            if length <= RESERVED_AT_LEAST {
                break (0, 0);
            }
            length /= 2;
        };
        Self { base, capacity, used: AtomicUsize::new(0), free: Mutex::default() }
    }

    /// The slot at a pointer, if there has ever been one there.
    fn at(&self, handle: usize) -> Option<&Slot> {
        let offset = handle.checked_sub(self.base)?;
        if offset % SLOT != 0 || offset / SLOT >= self.used.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: within the range, on a boundary, and initialised before `used` passed it; never unmapped. Shared
        // access only, as the lock inside demands.
        Some(unsafe { &*(handle as *const Slot) })
    }

    /// A free slot's address, put into `state`.
    fn allocate(&self, state: State) -> Result<usize> {
        let mut free = self.free.lock();
        if free.len() > QUARANTINE
            && let Some(slot) = free.pop_front().and_then(|handle| self.at(handle))
        {
            drop(free);
            *slot.state.lock() = state;
            return Ok(std::ptr::from_ref(slot) as usize);
        }
        // Growing happens under the lock, so `used` has one writer at a time.
        let index = self.used.load(Ordering::Relaxed);
        if index >= self.capacity {
            let most = self.capacity;
            let full = || error!(CL_OUT_OF_HOST_MEMORY, "there are {most} objects, and there can be no more");
            let slot = free.pop_front().and_then(|handle| self.at(handle)).ok_or_else(full)?;
            *slot.state.lock() = state;
            return Ok(std::ptr::from_ref(slot) as usize);
        }
        let handle = self.base + index * SLOT;
        let no_table =
            || error!(CL_OUT_OF_HOST_MEMORY, "an error of the driver itself: there is no table of entry points");
        let dispatch = TABLE.get().copied().ok_or_else(no_table)?;
        // SAFETY: inside the mapping, aligned (the base is a page's, the stride the slot's size), not yet visible.
        unsafe { (handle as *mut Slot).write(Slot { dispatch, state: Mutex::new(state) }) };
        self.used.store(index + 1, Ordering::Release);
        Ok(handle)
    }
}

/// Called by an object's [`ApiHandle`] when the object is gone.
fn recycle(handle: usize) {
    let slots = Slots::get();
    if let Some(slot) = slots.at(handle) {
        *slot.state.lock() = State::Free;
        slots.free.lock().push_back(handle);
    }
}

/// Gives a new object to the application, which then holds it once.
pub fn publish<T: Object>(object: Arc<T>) -> Result<*mut c_void> {
    let handle = Slots::get().allocate(State::Live { object: object.clone(), references: 1 })?;
    object.api().set_handle(handle, &Operations::<T>::ALL);
    Ok(handle as *mut c_void)
}

/// The handle of an object the application knows; null if it has none.
pub fn of<T: Object>(object: &Arc<T>) -> *mut c_void {
    object.api().get() as *mut c_void
}

/// The object a handle stands for, or the error of its type.
pub fn get<T: Object>(handle: *mut c_void) -> Result<Arc<T>> {
    if T::RUNS {
        fork::check()?;
    }
    find_or_invalid(handle)
}

/// The object a handle stands for, also in a forked child, which can ask about it.
pub fn find_or_invalid<T: Object>(handle: *mut c_void) -> Result<Arc<T>> {
    find(handle).ok_or_else(|| {
        let state = Slots::get().at(handle as usize).map(|slot| slot.state.lock());
        invalid::<T>(handle, state.as_deref())
    })
}

/// The error for a pointer that is no handle of the type, given what its slot holds if there is one.
#[cold]
fn invalid<T: Object>(handle: *mut c_void, state: Option<&State>) -> Error {
    let wanted = with_article(T::NAME);
    match state {
        _ if handle.is_null() => error!(T::INVALID, "NULL is not {wanted}"),
        None => error!(T::INVALID, "{handle:p} is not {wanted} nor any other object of this driver"),
        Some(State::Free | State::Released(_)) => {
            error!(T::INVALID, "{handle:p} is not {wanted}: the object that it was has been released")
        }
        Some(State::Live { object, .. }) => {
            error!(T::INVALID, "{handle:p} is {}, not {wanted}", with_article(name_of(object)))
        }
    }
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// The context that the object of a handle of any type is or belongs to, if the handle is valid.
pub fn context_of(handle: *mut c_void) -> Option<Arc<Context>> {
    let state = Slots::get().at(handle as usize)?.state.lock();
    let object = match &*state {
        State::Free => None,
        State::Live { object, .. } => Some(object.clone()),
        State::Released(object) => object.upgrade(),
    };
    // Were this the last reference by now, the object would go while the slot is locked.
    drop(state);
    context_in(object?)
}

/// The object a handle stands for, if it is a valid handle of the type.
fn find<T: Object>(handle: *mut c_void) -> Option<Arc<T>> {
    let slot = Slots::get().at(handle as usize)?;
    let state = slot.state.lock();
    match &*state {
        State::Free => None,
        State::Live { object, .. } if !object.is::<T>() => None,
        State::Live { object, .. } => object.clone().downcast().ok(),
        State::Released(_) if !T::OUTLIVES => None,
        State::Released(object) => {
            let object = object.upgrade();
            // Were this the last reference by now, the object would go while the slot is locked.
            drop(state);
            object?.downcast().ok()
        }
    }
}

/// The objects of an array of handles; `code` for null where there should be some or the reverse.
///
/// # Safety
/// `handles` is null or points to `count` handles.
pub unsafe fn list<T: Object>(count: cl_uint, handles: *const *mut c_void, code: cl_int) -> Result<Vec<Arc<T>>> {
    check_list(count, T::NAME, handles, code)?;
    (0..count as usize)
        .map(|i| {
            // SAFETY: not null, and the caller vouches for `count` elements.
            let object = get(unsafe { handles.add(i).read() });
            object.map_err(|error| error.with_subject(format_args!("{} {i} of {count}", T::NAME)))
        })
        .collect()
}

/// `code` for a list of things that is null where there should be some or the reverse.
pub fn check_list<T>(count: cl_uint, what: &str, list: *const T, code: cl_int) -> Result<()> {
    ensure!(count == 0 || !list.is_null(), code, "the list of {what}s is NULL, and their number is {count}");
    ensure!(count > 0 || list.is_null(), code, "the list of {what}s is not NULL, and their number is 0");
    Ok(())
}

/// Takes a reference: what `clRetain*` does.
pub fn retain<T: Object>(handle: *mut c_void) -> Result<()> {
    let slot = Slots::get().at(handle as usize).ok_or_else(|| invalid::<T>(handle, None))?;
    let mut state = slot.state.lock();
    match &mut *state {
        State::Live { object, references } if object.is::<T>() => {
            let often = || error!(CL_OUT_OF_HOST_MEMORY, "it is held {} times, and cannot be more often", u32::MAX);
            *references = references.checked_add(1).ok_or_else(often)?;
            Ok(())
        }
        State::Released(object) if T::OUTLIVES => {
            let Some(object) = object.upgrade() else {
                return Err(invalid::<T>(handle, Some(&state)));
            };
            if !object.is::<T>() {
                let error = invalid::<T>(handle, Some(&state));
                drop(state);
                return Err(error);
            }
            *state = State::Live { object, references: 1 };
            Ok(())
        }
        other => Err(invalid::<T>(handle, Some(other))),
    }
}

/// Gives a reference back: what `clRelease*` does.
pub fn release<T: Object>(handle: *mut c_void) -> Result<()> {
    if let Some(before_release) = T::BEFORE_RELEASE
        && let Some(object) = find::<T>(handle)
    {
        before_release(&object);
    }
    let slot = Slots::get().at(handle as usize).ok_or_else(|| invalid::<T>(handle, None))?;
    let mut state = slot.state.lock();
    let (object, references) = match &mut *state {
        State::Live { object, references } if object.is::<T>() => (object, references),
        other => return Err(invalid::<T>(handle, Some(other))),
    };
    *references -= 1;
    if *references == 0 {
        let released = State::Released(Arc::downgrade(object));
        let last = std::mem::replace(&mut *state, released);
        // The object may go now, with callbacks that call the API: not under the lock.
        drop(state);
        drop(last);
    }
    Ok(())
}

/// `CL_*_REFERENCE_COUNT`: for leak detection only, as the specification says.
pub fn references<T: Object>(object: &Arc<T>) -> cl_uint {
    match Slots::get().at(object.api().get()).map(|slot| slot.state.lock()).as_deref() {
        Some(State::Live { references, .. }) => *references,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use opencl_sys::CL_COMPLETE;

    use super::*;
    use crate::dispatch::DISPATCH;

    fn context() -> Arc<Context> {
        set_table(&DISPATCH);
        Context::new(vec![Platform::get().device().clone()], Vec::new(), None)
    }

    fn code<T: Object>(handle: *mut c_void) -> cl_int {
        get::<T>(handle).err().as_ref().map_or(0, Error::code)
    }

    #[test]
    fn a_handle_starts_with_the_dispatch_table() {
        let handle = publish(context()).unwrap();
        // SAFETY: a live handle's first word is what the loader reads.
        assert!(std::ptr::eq(unsafe { handle.cast::<*const cl_icd_dispatch>().read() }, &DISPATCH));
        release::<Context>(handle).unwrap();
    }

    #[test]
    fn what_is_no_handle_is_recognised() {
        let handle = publish(context()).unwrap();
        let on_the_stack = 0_u64;
        let beyond = Slots::get().base + (Slots::get().capacity - 1) * SLOT;
        let wrong = [
            std::ptr::null_mut(),
            std::ptr::dangling_mut(),
            usize::MAX as *mut c_void,
            (&raw const on_the_stack).cast_mut().cast(),
            handle.wrapping_byte_add(8),
            handle.wrapping_byte_sub(1),
            beyond as *mut c_void,
        ];
        for pointer in wrong {
            assert_eq!(code::<Context>(pointer), CL_INVALID_CONTEXT, "{pointer:?}");
            assert_eq!(retain::<Context>(pointer).unwrap_err().code(), CL_INVALID_CONTEXT);
            assert_eq!(release::<Context>(pointer).unwrap_err().code(), CL_INVALID_CONTEXT);
        }
        assert_eq!(code::<Queue>(handle), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(release::<Memory>(handle).unwrap_err().code(), CL_INVALID_MEM_OBJECT);
        assert_eq!(code::<Context>(handle), 0);
        release::<Context>(handle).unwrap();
    }

    #[test]
    fn references_are_counted_and_the_last_release_ends_the_handle() {
        let object = context();
        let handle = publish(object.clone()).unwrap();
        assert_eq!(of(&object), handle);
        retain::<Context>(handle).unwrap();
        assert_eq!(references(&object), 2);
        release::<Context>(handle).unwrap();
        release::<Context>(handle).unwrap();
        assert_eq!(references(&object), 0);
        // Something else holds the context: it can still be used, and held again, but not released once more.
        assert_eq!(release::<Context>(handle).unwrap_err().code(), CL_INVALID_CONTEXT);
        assert_eq!(code::<Context>(handle), 0);
        retain::<Context>(handle).unwrap();
        release::<Context>(handle).unwrap();
        drop(object);
        assert_eq!(code::<Context>(handle), CL_INVALID_CONTEXT);
    }

    #[test]
    fn a_released_queue_is_invalid_though_something_holds_it() {
        let context = context();
        let queue = Queue::new(context.clone(), context.devices()[0].clone(), 0, Vec::new());
        let handle = publish(queue.clone()).unwrap();
        release::<Queue>(handle).unwrap();
        assert_eq!(code::<Queue>(handle), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(retain::<Queue>(handle).unwrap_err().code(), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(of(&queue), handle);
    }

    #[test]
    fn slots_are_used_again_but_not_soon() {
        let first = publish(Event::new_user_event(context())).unwrap();
        release::<Event>(first).unwrap();
        let used = Slots::get().used.load(Ordering::Relaxed);
        for round in 0..3 * QUARANTINE {
            let event = Event::new_user_event(context());
            event.set_user_status(CL_COMPLETE).unwrap();
            let handle = publish(event).unwrap();
            assert!(!std::ptr::eq(handle, first) || round > QUARANTINE - 100, "after {round} rounds");
            release::<Event>(handle).unwrap();
        }
        // Other tests use some as well; without reuse there would be thousands more.
        assert!(Slots::get().used.load(Ordering::Relaxed) < used + QUARANTINE + 100);
    }
}
