//! What an episode knows: which handles are live and how often it holds each, which are gone, and what would hang.
//!
//! Handles are drawn from here. Most are live and of the wanted type, many are not; what the driver answers is compared
//! with what is known. A call that waits comes after [`World::let_go`], so that an endless wait is the driver's.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Mutex;

use lockstep_conformance::entry_points::EntryPoints;
use lockstep_conformance::extension_functions::{
    CommandBuffers, CreateCommandQueue, DeviceAddress, IntermediateLanguage, MutableDispatch, ProgramVariables,
    Semaphores, SuggestedLocalWorkSize, UnifiedMemory,
};
use lockstep_conformance::loader::{device, driver, platform};
use lockstep_conformance::objects::dispatch_word;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Random, code_name};

pub type Handle = *mut c_void;

/// The types of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Platform,
    Device,
    Context,
    Queue,
    Mem,
    Sampler,
    Program,
    Kernel,
    Event,
    Semaphore,
    Commands,
    Dispatch,
}
pub use Kind::*;

const KINDS: [Kind; 12] =
    [Platform, Device, Context, Queue, Mem, Sampler, Program, Kernel, Event, Semaphore, Commands, Dispatch];

impl Kind {
    /// So many objects at most are held at a time.
    fn limit(self) -> usize {
        match self {
            Platform | Device | Context => 4,
            Queue | Sampler | Program | Semaphore | Commands => 6,
            Mem | Kernel | Dispatch => 16,
            Event => 24,
        }
    }
}

/// The functions that are not in the dispatch table.
pub struct Extensions {
    pub usm: UnifiedMemory,
    pub commands: CommandBuffers,
    pub dispatch: MutableDispatch,
    pub queue: CreateCommandQueue,
    pub local_size: SuggestedLocalWorkSize,
    pub il: IntermediateLanguage,
    pub semaphores: Semaphores,
    pub address: DeviceAddress,
    pub variables: ProgramVariables,
}

/// An object that the episode holds.
struct Live {
    handle: Handle,
    references: u32,
    /// What is of one context has one number, as far as the calls that made it were right.
    home: usize,
    image: bool,
    /// Whether it stays to the end.
    kept: bool,
}

#[derive(Default)]
struct Pool {
    live: Vec<Live>,
    /// Handles that the episode has released for the last time.
    gone: Vec<Handle>,
}

/// Bytes that data is read from and written to: enough for every size, pitch and origin that is not refused.
pub const ARENA: usize = 4 << 20;

/// The state of an episode.
pub struct World {
    pub random: Random,
    pub d: &'static EntryPoints,
    pub x: &'static Extensions,
    pub binary: &'static [u8],
    pools: [Pool; KINDS.len()],
    /// What most handles of a call belong to.
    home: usize,
    homes: usize,
    /// Whether there are command buffers in this episode.
    pub records: bool,
    /// User events without a status.
    pending: Vec<Handle>,
    /// Maps and what they are of.
    pub maps: Vec<(Handle, *mut c_void)>,
    /// Pipes that stay to the end.
    pub pipes: Vec<Handle>,
    /// Shared memory that is never freed.
    pub shared: &'static [usize],
    /// Shared memory that may be freed, and was.
    pub passing: Vec<*mut c_void>,
    arena: *mut u8,
    answers: *mut u8,
    /// Room for a program's binary.
    pub binaries: *mut c_void,
    forged: *mut usize,
    /// Where functions leave their code.
    pub code: cl_int,
    /// Where functions leave an object.
    pub out: Handle,
    /// Calls that succeeded.
    pub successes: u64,
}

impl World {
    pub fn new(seed: u64, x: &'static Extensions, binary: &'static [u8], memory: &Memory) -> Self {
        let mut world = World {
            random: Random::new(seed),
            d: driver(),
            x,
            binary,
            pools: Default::default(),
            home: 0,
            homes: 0,
            records: !seed.is_multiple_of(4),
            pending: vec![],
            maps: vec![],
            pipes: vec![],
            shared: memory.shared,
            passing: vec![],
            arena: memory.arena,
            answers: memory.answers,
            binaries: memory.binaries,
            forged: memory.forged,
            code: 0,
            out: ptr::null_mut(),
            successes: 0,
        };
        world.add(Platform, platform());
        world.add(Device, device());
        world
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    /// Whether something happens that does so once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of some.
    pub fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn pool(&mut self, kind: Kind) -> &mut Pool {
        &mut self.pools[kind as usize]
    }

    /// Chooses the context of most of the handles of the next call.
    pub fn move_on(&mut self) {
        self.home = match self.below(10) {
            0..7 => 1,
            7 | 8 => 2,
            _ => 1 + self.below(self.homes.max(1)),
        };
    }

    /// A handle where one of `kind` belongs.
    pub fn handle(&mut self, kind: Kind) -> Handle {
        self.handle_of(kind, None)
    }

    /// A handle where an image belongs.
    pub fn image(&mut self) -> Handle {
        self.handle_of(Mem, Some(true))
    }

    /// A handle where a buffer belongs.
    pub fn buffer(&mut self) -> Handle {
        self.handle_of(Mem, Some(false))
    }

    /// A handle where a pipe belongs: those that stay are two of each context.
    pub fn pipe(&mut self) -> Handle {
        if self.once_in(10) || self.pipes.is_empty() {
            return self.handle(Mem);
        }
        let context = if self.once_in(10) { self.below(self.homes) } else { self.home - 1 };
        let place = 2 * context + self.below(2);
        self.pipes[place % self.pipes.len()]
    }

    fn handle_of(&mut self, kind: Kind, image: Option<bool>) -> Handle {
        match self.below(200) {
            0..188 => self.draw(kind, image),
            188..192 => {
                let index = self.below(64);
                let gone = &self.pool(kind).gone;
                if gone.is_empty() { ptr::null_mut() } else { gone[index % gone.len()] }
            }
            192..194 => ptr::null_mut(),
            194..197 => {
                let other = self.any(&KINDS);
                self.live(other)
            }
            _ => match self.below(5) {
                0 => self.forged.cast(),
                1 => ptr::without_provenance_mut(self.random.bits() as usize),
                2 => ptr::without_provenance_mut(self.below(4096)),
                3 => self.live(kind).wrapping_byte_add(8),
                _ => self.live(kind).wrapping_byte_sub(1),
            },
        }
    }

    /// A live handle of a kind, if there is one.
    pub fn live(&mut self, kind: Kind) -> Handle {
        self.draw(kind, None)
    }

    /// A live handle, mostly one that goes with the others of the call.
    fn draw(&mut self, kind: Kind, image: Option<bool>) -> Handle {
        let (index, home, any) = (self.random.bits() as usize >> 8, self.home, self.once_in(20));
        let fits = |live: &&Live| {
            any || (live.home == home || kind == Device) && image.is_none_or(|image| image == live.image)
        };
        let pool = self.pool(kind);
        let fitting: Vec<Handle> = pool.live.iter().filter(fits).map(|live| live.handle).collect();
        match (fitting.as_slice(), pool.live.as_slice()) {
            ([], []) => ptr::null_mut(),
            ([], all) => all[index % all.len()].handle,
            (fitting, _) => fitting[index % fitting.len()],
        }
    }

    /// A user event without a status, if there is one.
    pub fn a_pending(&mut self) -> Handle {
        if self.pending.is_empty() || self.once_in(3) {
            return self.handle(Event);
        }
        let index = self.below(self.pending.len());
        self.pending[index]
    }

    /// Whether the episode holds an object by this handle.
    pub fn holds(&mut self, kind: Kind, handle: Handle) -> bool {
        self.pool(kind).live.iter().any(|live| live.handle == handle)
    }

    /// Keeps what there is to the end.
    pub fn keep_all(&mut self) {
        self.pools.iter_mut().flat_map(|pool| &mut pool.live).for_each(|live| live.kept = true);
    }

    /// A few handles: how many there are said to be, and the list.
    pub fn handles(&mut self, kind: Kind, most: usize) -> (cl_uint, Vec<Handle>) {
        let count = self.below(most + 1);
        let list = (0..count).map(|_| self.handle(kind)).collect();
        (count as cl_uint, list)
    }

    /// The handles for a wait list; a count that does not fit to it now and then.
    pub fn wait_list(&mut self) -> (cl_uint, Vec<Handle>) {
        if self.once_in(50) {
            return (1 + self.below(3) as cl_uint, vec![]);
        }
        if self.below(3) > 0 {
            return (0, vec![]);
        }
        self.handles(Event, 4)
    }

    /// Notes an object that a function returned.
    pub fn add(&mut self, kind: Kind, handle: Handle) {
        assert!(!handle.is_null(), "a {kind:?} was made that is null");
        // The driver may use the address of an object that is gone.
        for pool in &mut self.pools {
            pool.gone.retain(|&gone| gone != handle);
        }
        // Those end with their command buffer.
        self.pool(Dispatch).live.retain(|live| kind == Dispatch || live.handle != handle);
        for other in KINDS {
            assert!(other == kind || !self.holds(other, handle), "a new {kind:?} has the handle of a {other:?}");
        }
        if kind == Context && !self.holds(kind, handle) {
            self.homes += 1;
            self.home = self.homes;
        }
        let home = self.home;
        match self.pool(kind).live.iter_mut().find(|live| live.handle == handle) {
            Some(live) => live.references += 1,
            None => self.pool(kind).live.push(Live { handle, references: 1, home, image: false, kept: false }),
        }
        while self.pool(kind).live.len() > kind.limit() {
            let index = self.below(kind.limit());
            let Live { handle, references, kept, .. } = self.pool(kind).live[index];
            for _ in 0..if kept { 0 } else { references } {
                self.release(kind, handle);
            }
        }
    }

    /// Notes that the newest memory object is an image.
    pub fn made_image(&mut self, handle: Handle) {
        self.made(Mem, handle);
        if let Some(live) = self.pool(Mem).live.iter_mut().find(|live| live.handle == handle) {
            live.image = true;
        }
    }

    /// Judges the answer of a function that makes an object.
    pub fn made(&mut self, kind: Kind, handle: Handle) {
        let code = self.code;
        assert!((code == CL_SUCCESS) != handle.is_null(), "{} and {handle:?}", code_name(code));
        if code == CL_SUCCESS {
            self.successes += 1;
            self.add(kind, handle);
        }
    }

    /// Judges the answer of a function that was given a handle.
    pub fn judge(&mut self, kind: Kind, handle: Handle, code: cl_int) {
        if code == CL_SUCCESS {
            self.successes += 1;
            let known = self.holds(kind, handle) || self.pool(kind).gone.contains(&handle);
            assert!(known, "{handle:?} was taken for a {kind:?}");
        }
    }

    /// Calls a function that retains.
    pub fn retain(&mut self, kind: Kind, handle: Handle) {
        let code = self.retains(kind)(handle);
        self.judge(kind, handle, code);
        if code == CL_SUCCESS {
            self.add(kind, handle);
        } else {
            assert!(!self.holds(kind, handle), "a live {kind:?} cannot be retained: {}", code_name(code));
        }
    }

    /// Calls a function that releases, unless that would end what is kept.
    pub fn release(&mut self, kind: Kind, handle: Handle) {
        let place = self.pool(kind).live.iter().position(|live| live.handle == handle);
        let last = place.is_some_and(|place| self.pool(kind).live[place].references == 1);
        if last && place.is_some_and(|place| self.pool(kind).live[place].kept) {
            return;
        }
        if last && kind == Event {
            self.set_status(handle);
        }
        let code = self.releases(kind)(handle);
        // The root device and platform are not counted.
        if kind == Device && ptr::eq(handle, device()) {
            assert_eq!(code, CL_SUCCESS);
            return;
        }
        let Some(place) = place else {
            // "A command-buffer object should increment the reference count of attached OpenCL objects": those it may
            // still hold, so that one release too many succeeds.
            let held = self.records && matches!(kind, Queue | Mem | Kernel);
            assert!(code != CL_SUCCESS || held, "{handle:?} was released, a {kind:?} that is not held");
            return;
        };
        assert_eq!(code, CL_SUCCESS, "a live {kind:?} cannot be released: {}", code_name(code));
        self.successes += 1;
        let pool = self.pool(kind);
        pool.live[place].references -= 1;
        if last {
            pool.live.swap_remove(place);
            pool.gone.push(handle);
            if pool.gone.len() > 32 {
                pool.gone.remove(0);
            }
        }
    }

    fn retains(&self, kind: Kind) -> extern "C" fn(Handle) -> cl_int {
        match kind {
            Platform | Dispatch => refuse,
            Device => self.d.clRetainDevice,
            Context => self.d.clRetainContext,
            Queue => self.d.clRetainCommandQueue,
            Mem => self.d.clRetainMemObject,
            Sampler => self.d.clRetainSampler,
            Program => self.d.clRetainProgram,
            Kernel => self.d.clRetainKernel,
            Event => self.d.clRetainEvent,
            Semaphore => self.x.semaphores.clRetainSemaphoreKHR,
            Commands => self.x.commands.clRetainCommandBufferKHR,
        }
    }

    fn releases(&self, kind: Kind) -> extern "C" fn(Handle) -> cl_int {
        match kind {
            Platform | Dispatch => accept,
            Device => self.d.clReleaseDevice,
            Context => self.d.clReleaseContext,
            Queue => self.d.clReleaseCommandQueue,
            Mem => self.d.clReleaseMemObject,
            Sampler => self.d.clReleaseSampler,
            Program => self.d.clReleaseProgram,
            Kernel => self.d.clReleaseKernel,
            Event => self.d.clReleaseEvent,
            Semaphore => self.x.semaphores.clReleaseSemaphoreKHR,
            Commands => self.x.commands.clReleaseCommandBufferKHR,
        }
    }

    /// Notes a user event, for which commands may wait.
    pub fn add_pending(&mut self, event: Handle) {
        self.pending.push(event);
    }

    /// Sets the status of a user event that has none.
    fn set_status(&mut self, event: Handle) {
        if let Some(place) = self.pending.iter().position(|&pending| pending == event) {
            self.pending.swap_remove(place);
            let status = if self.once_in(4) { -1 } else { CL_COMPLETE };
            assert_eq!((self.d.clSetUserEventStatus)(event, status), CL_SUCCESS);
        }
    }

    /// Notes that an event has been given a status.
    pub fn no_longer_pending(&mut self, event: Handle) {
        self.pending.retain(|&pending| pending != event);
    }

    /// Lets every command go on that waits for the application.
    pub fn let_go(&mut self) {
        while let Some(&event) = self.pending.last() {
            self.set_status(event);
        }
    }

    /// Waits until no command is left.
    pub fn finish(&mut self) {
        self.let_go();
        for index in 0..self.pool(Queue).live.len() {
            let queue = self.pool(Queue).live[index].handle;
            assert_eq!((self.d.clFinish)(queue), CL_SUCCESS);
        }
    }

    /// Releases everything.
    pub fn end(mut self) -> u64 {
        self.finish();
        for kind in KINDS.into_iter().rev() {
            for mut live in std::mem::take(&mut self.pool(kind).live) {
                let Live { handle, references, .. } = live;
                live.kept = false;
                self.pool(kind).live.push(live);
                for _ in 0..if ptr::eq(handle, device()) { 1 } else { references } {
                    self.release(kind, handle);
                }
                self.pool(kind).live.clear();
            }
        }
        self.successes
    }

    /// Where a code goes.
    pub fn code_at(&mut self) -> *mut cl_int {
        self.code = 1;
        &raw mut self.code
    }

    /// Where a returned object goes; null now and then.
    pub fn out_at(&mut self) -> *mut Handle {
        self.out = ptr::null_mut();
        if self.once_in(3) { ptr::null_mut() } else { &raw mut self.out }
    }

    /// A place for data, with room for all that can be asked.
    pub fn data(&mut self) -> *mut c_void {
        if self.once_in(30) {
            return ptr::null_mut();
        }
        let offset = if self.once_in(2) { self.below(1024) * 64 } else { self.below(65536) };
        self.arena.wrapping_add(offset).cast()
    }

    /// A place for an answer.
    pub fn answer(&mut self) -> *mut c_void {
        if self.once_in(6) { ptr::null_mut() } else { self.answers.cast() }
    }

    /// A size that is small, mostly.
    pub fn size(&mut self) -> usize {
        match self.below(40) {
            0 => self.any(&[1 << 46, 1 << 63, usize::MAX, usize::MAX - 1, usize::MAX / 2, usize::MAX - 4095]),
            1..4 => 0,
            4..20 => self.any(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096]),
            20..30 => self.below(64),
            _ => self.below(4200),
        }
    }

    /// Where in a buffer something begins.
    pub fn offset(&mut self) -> usize {
        if self.once_in(2) { 0 } else { self.size() }
    }

    /// A size that is small.
    pub fn small(&mut self) -> usize {
        let size = self.size();
        if size > 65536 { 1 } else { size }
    }

    /// Bits of these; now and then any at all.
    pub fn bits(&mut self, of: &[u64]) -> u64 {
        if self.once_in(20) {
            return self.random.bits();
        }
        let mut bits = 0;
        for _ in 0..self.any(&[0, 1, 1, 2]) {
            bits |= self.any(of);
        }
        bits
    }

    /// One of these, or near one, or any number.
    pub fn number(&mut self, of: &[u32]) -> u32 {
        match self.below(20) {
            0 => self.random.bits() as u32,
            1 => self.any(of).wrapping_add(1),
            _ => self.any(of),
        }
    }

    /// The name of a question, of those that follow the first.
    pub fn question(&mut self, first: u32, count: usize) -> u32 {
        if self.once_in(20) { self.random.bits() as u32 } else { first + self.below(count) as u32 }
    }

    /// Where something begins.
    pub fn origin(&mut self) -> [usize; 3] {
        if self.once_in(2) { [0; 3] } else { self.triple(4) }
    }

    /// How large something is.
    pub fn region(&mut self) -> [usize; 3] {
        match self.below(8) {
            0..4 => [1 + self.below(8), 1, 1],
            4..7 => [1 + self.below(8), 1 + self.below(4), 1 + self.below(2)],
            _ => self.triple(16),
        }
    }

    /// Three numbers of any kind; often no more than `within`.
    pub fn triple(&mut self, within: usize) -> [usize; 3] {
        let mut triple = [0_usize; 3];
        for value in &mut triple {
            *value = match self.below(30) {
                0 => self.any(&[1 << 46, 1 << 63, usize::MAX, usize::MAX - 3]),
                1..15 => self.below(2).min(within),
                _ => self.below(within + 1).min(16),
            };
        }
        triple
    }

    /// A triple for the application's side, where nothing is checked.
    pub fn host_triple(&mut self) -> [usize; 3] {
        [self.below(16), self.below(8), self.below(4)]
    }

    /// A pitch for either side.
    pub fn pitch(&mut self) -> usize {
        self.any(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 16, 64, 100, 256, 4096])
    }

    /// A blocking flag; nothing that has to wait waits for the application after this.
    pub fn blocking(&mut self) -> cl_bool {
        let flag = self.any(&[CL_FALSE, CL_FALSE, CL_FALSE, CL_TRUE, 2, u32::MAX]);
        if flag != CL_FALSE {
            self.let_go();
        }
        flag
    }

    /// A list of properties: names, each with a value, and a zero, or none.
    pub fn properties(&mut self, names: &[u64], values: &[u64]) -> Vec<u64> {
        let mut list = vec![];
        if self.once_in(3) {
            return list;
        }
        for _ in 0..self.below(4) {
            let name = if self.once_in(15) { self.random.bits() } else { self.any(names) };
            let value = match self.below(8) {
                0 => self.random.bits(),
                1 => {
                    let kind = self.any(&KINDS);
                    self.handle(kind) as u64
                }
                _ => self.any(values),
            };
            list.push(name);
            if name != 0 {
                list.push(value);
            }
        }
        list.push(0);
        list
    }

    /// Shared memory, of which a few thousand bytes can be used.
    pub fn shared_pointer(&mut self) -> *mut c_void {
        match self.below(10) {
            0 => ptr::null_mut(),
            1..7 => {
                let start = self.any(self.shared);
                let offset = if self.once_in(2) { 0 } else { self.below(256) };
                ptr::with_exposed_provenance_mut(start + offset)
            }
            _ => self.data(),
        }
    }

    /// The name of a kernel, mostly.
    pub fn name(&mut self) -> *const c_char {
        if self.once_in(20) {
            return ptr::null();
        }
        self.any(&[c"touch", c"touch", c"pixels", c"record", c"shared", c"packets", c"", c"tou", c"main"]).as_ptr()
    }
}

// What is not counted is neither retained nor released.
extern "C" fn refuse(_: Handle) -> cl_int {
    CL_INVALID_VALUE
}
extern "C" fn accept(_: Handle) -> cl_int {
    CL_SUCCESS
}

/// A list's pointer, null for an empty list.
pub fn pointer<T>(list: &[T]) -> *const T {
    if list.is_empty() { ptr::null() } else { list.as_ptr() }
}

/// Values that stay for good, where a search for leaks finds them.
pub fn for_good<T>(values: Vec<T>) -> &'static mut [T] {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let values = values.leak();
    KEPT.lock().expect("no thread failed with it").push(values.as_mut_ptr().expose_provenance());
    values
}

/// Memory that outlives all commands.
pub struct Memory {
    arena: *mut u8,
    answers: *mut u8,
    binaries: *mut c_void,
    forged: *mut usize,
    shared: &'static [usize],
}

impl Memory {
    /// The context is one that is never released.
    pub fn new(context: cl_context) -> Self {
        let room = || for_good(vec![0_u64; ARENA / 8]).as_mut_ptr();
        let forged = for_good(vec![dispatch_word(); 64]).as_mut_ptr();
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
        let shared = (0..4).map(|_| (driver().clSVMAlloc)(context, flags, 65536, 0).expose_provenance()).collect();
        let shared = for_good(shared);
        assert!(shared.iter().all(|&address| address != 0));
        Memory { arena: room().cast(), answers: room().cast(), binaries: room().cast(), forged, shared }
    }
}
