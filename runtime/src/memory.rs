//! Memory objects, buffers and images: where their bytes are, who may touch them, what of them is mapped.
//!
//! A device that is the host needs no copies: an object's bytes are the application's own with `CL_MEM_USE_HOST_PTR`, and
//! a mapping is a pointer to them. Kernels and host may race on the bytes as on any device; the driver only ever touches
//! them through raw pointers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opencl_sys::{
    CL_INVALID_BUFFER_SIZE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MEM_COPY_HOST_PTR,
    CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_MEM_USE_HOST_PTR, cl_map_flags, cl_mem_flags, cl_mem_properties,
};
use parking_lot::Mutex;

use crate::context::{Context, DestructorCallback};
use crate::image::Image;
use crate::memory_allocation::Allocation;
use crate::memory_layout::{Layout as BoxLayout, Region, boxes_overlap};
use crate::memory_mappings::Mappings;
use crate::pipe::Pipe;
use crate::{ApiHandle, Result, ensure, error};

/// `CL_MEM_IMMUTABLE_EXT`: an object whose bytes never change. The headers' crate lacks cl_ext_immutable_memory_objects.
pub const IMMUTABLE: cl_mem_flags = 1 << 6;

/// A buffer, a part of one, an image or a pipe.
pub struct Memory {
    context: Arc<Context>,
    flags: cl_mem_flags,
    start: *mut u8,
    size: usize,
    storage: Storage,
    contents: Contents,
    /// The property list it was made with, with its terminating 0; empty when there was none.
    properties: Vec<cl_mem_properties>,
    /// The mapped regions, kept by the whole buffer for its parts too.
    mappings: Mutex<Mappings>,
    /// How many of them were mapped through this object.
    map_count: AtomicUsize,
    destructors: Mutex<Vec<DestructorCallback>>,
    /// The word of the API layer.
    pub api: ApiHandle,
}

// SAFETY: the pointer is to plain bytes that outlive the object, and the object never reads or writes them by itself.
unsafe impl Send for Memory {}
// SAFETY: as above; what commands do to the bytes at the same time is the application's to order.
unsafe impl Sync for Memory {}

/// What the bytes mean.
enum Contents {
    /// What the application says.
    Bytes,
    Image(Image),
    Pipe(Pipe),
}

/// Whose the bytes are.
enum Storage {
    /// The driver's, freed with the object.
    Own { _bytes: Allocation },
    /// The application's, until the object is gone.
    Host,
    /// A part of another buffer, at this offset.
    Part { whole: Arc<Memory>, origin: usize },
    /// Another object's, seen as an image.
    View { of: Arc<Memory> },
}

impl Memory {
    /// A buffer of `byte_size` bytes with contents of `host_pointer`, if given: used in place or copied, as the flags say.
    ///
    /// # Errors
    /// "CL_INVALID_BUFFER_SIZE if size is 0 [or] greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for all devices in
    /// context"; "CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a failure to allocate memory for the buffer object".
    ///
    /// # Safety
    /// If `memory_flags` have `CL_MEM_USE_HOST_PTR` or `CL_MEM_COPY_HOST_PTR`, `host_pointer` points to `byte_size` bytes; in the first case
    /// for as long as the buffer lives.
    pub unsafe fn new(
        context: Arc<Context>,
        memory_flags: cl_mem_flags,
        byte_size: usize,
        host_pointer: *mut u8,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let maximum = context.devices().iter().map(|device| device.max_allocation()).max().unwrap_or(0);
        ensure!(byte_size > 0, CL_INVALID_BUFFER_SIZE, "a buffer of 0 bytes");
        ensure!(
            byte_size as u64 <= maximum,
            CL_INVALID_BUFFER_SIZE,
            "a buffer of {byte_size} bytes; {maximum} are allowed"
        );
        // SAFETY: the same contract.
        let (start, storage) = unsafe { allocate_storage(&context, memory_flags, byte_size, host_pointer)? };
        Ok(Self::with_storage(context, memory_flags, start, byte_size, storage, Contents::Bytes, properties))
    }

    /// An image with contents of `host_pointer`, if given, where rows and slices are as far apart as in the image.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE` for more bytes than a buffer may have or than there are.
    ///
    /// # Safety
    /// As for [`Memory::new`], with as many bytes as [`Image::byte_size`] says.
    pub unsafe fn new_image(
        context: Arc<Context>,
        memory_flags: cl_mem_flags,
        image: Image,
        host_pointer: *mut u8,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let byte_size = image.byte_size();
        let maximum = context.devices().iter().map(|device| device.max_allocation()).max().unwrap_or(0);
        ensure!(
            byte_size as u64 <= maximum,
            CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "an image of {byte_size} bytes; {maximum} are allowed"
        );
        // SAFETY: the same contract.
        let (start, storage) = unsafe { allocate_storage(&context, memory_flags, byte_size, host_pointer)? };
        Ok(Self::with_storage(context, memory_flags, start, byte_size, storage, Contents::Image(image), properties))
    }

    /// An empty pipe.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE` for more bytes than a buffer may have or than there are.
    pub fn new_pipe(context: Arc<Context>, memory_flags: cl_mem_flags, pipe: Pipe) -> Result<Arc<Self>> {
        let maximum = context.devices().iter().map(|device| device.max_allocation()).max().unwrap_or(0);
        let Pipe { packet_size, max_packets } = pipe;
        let byte_size = pipe.byte_size().filter(|&byte_size| byte_size as u64 <= maximum).ok_or_else(|| {
            let description = format_args!("a pipe of {max_packets} packets of {packet_size} bytes");
            error!(
                CL_MEM_OBJECT_ALLOCATION_FAILURE,
                "{description} takes more than the {maximum} bytes that are allowed"
            )
        })?;
        let allocation = Allocation::new(byte_size, context.global_memory())?;
        let start = allocation.start();
        let pipe_header = pipe.initial_header();
        // SAFETY: the new memory is larger than a head, and nobody else knows of it yet.
        unsafe { start.copy_from_nonoverlapping(pipe_header.as_ptr(), pipe_header.len()) };
        let storage = Storage::Own { _bytes: allocation };
        Ok(Self::with_storage(context, memory_flags, start, byte_size, storage, Contents::Pipe(pipe), Vec::new()))
    }

    /// This object's bytes as an image.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where they are not enough.
    pub fn image_view(
        self: &Arc<Self>,
        memory_flags: cl_mem_flags,
        image: Image,
        property_list: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let byte_size = image.byte_size();
        ensure!(
            byte_size <= self.size,
            CL_INVALID_VALUE,
            "an image of {byte_size} bytes in an object of {}",
            self.size
        );
        let storage = Storage::View { of: self.clone() };
        Ok(Self::with_storage(
            self.context.clone(),
            memory_flags,
            self.start,
            byte_size,
            storage,
            Contents::Image(image),
            property_list,
        ))
    }

    /// A part of this buffer.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where the region does not lie within it, or it is a part itself.
    pub fn sub_buffer(
        self: &Arc<Self>,
        memory_flags: cl_mem_flags,
        byte_origin: usize,
        byte_size: usize,
    ) -> Result<Arc<Self>> {
        ensure!(self.parent_buffer().is_none(), CL_INVALID_VALUE, "the buffer is a sub-buffer itself");
        ensure!(
            self.contains(byte_origin, byte_size),
            CL_INVALID_VALUE,
            "a sub-buffer of {byte_size} bytes from {byte_origin} on is outside of the buffer of {} bytes",
            self.size
        );
        let start = self.start.wrapping_add(byte_origin);
        let storage = Storage::Part { whole: self.clone(), origin: byte_origin };
        Ok(Self::with_storage(
            self.context.clone(),
            memory_flags,
            start,
            byte_size,
            storage,
            Contents::Bytes,
            Vec::new(),
        ))
    }

    fn with_storage(
        context: Arc<Context>,
        memory_flags: cl_mem_flags,
        start: *mut u8,
        byte_size: usize,
        storage: Storage,
        contents: Contents,
        properties: Vec<cl_mem_properties>,
    ) -> Arc<Self> {
        Arc::new(Self {
            context,
            flags: memory_flags,
            start,
            size: byte_size,
            storage,
            contents,
            properties,
            mappings: Mutex::default(),
            map_count: AtomicUsize::new(0),
            destructors: Mutex::default(),
            api: ApiHandle::default(),
        })
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The flags it was created with (`CL_MEM_FLAGS`).
    pub fn flags(&self) -> cl_mem_flags {
        self.flags
    }

    /// How many bytes it has (`CL_MEM_SIZE`).
    pub fn size(&self) -> usize {
        self.size
    }

    /// The property list it was created with (`CL_MEM_PROPERTIES`).
    pub fn properties(&self) -> &[cl_mem_properties] {
        &self.properties
    }

    /// The first byte. It stays where it is for as long as the object lives.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// The buffer this is a part of, and the part's offset.
    pub fn parent_buffer(&self) -> Option<(&Arc<Memory>, usize)> {
        match &self.storage {
            Storage::Part { whole, origin } => Some((whole, *origin)),
            Storage::Own { .. } | Storage::Host | Storage::View { .. } => None,
        }
    }

    /// What is known of an image; `None` of other objects.
    pub fn image(&self) -> Option<&Image> {
        match &self.contents {
            Contents::Image(image) => Some(image),
            Contents::Bytes | Contents::Pipe(_) => None,
        }
    }

    /// What is known of a pipe; `None` of other objects.
    pub fn pipe(&self) -> Option<Pipe> {
        match self.contents {
            Contents::Pipe(pipe) => Some(pipe),
            Contents::Bytes | Contents::Image(_) => None,
        }
    }

    /// Whether it is a buffer or a part of one.
    pub fn is_buffer(&self) -> bool {
        matches!(self.contents, Contents::Bytes)
    }

    /// `CL_MEM_ASSOCIATED_MEMOBJECT`: the object this one was made from.
    pub fn associated(&self) -> Option<&Arc<Memory>> {
        match &self.storage {
            Storage::Part { whole, .. } => Some(whole),
            Storage::View { of } => Some(of),
            Storage::Own { .. } | Storage::Host => None,
        }
    }

    /// The object whose the bytes are, and where in it this one begins.
    fn root_object(&self) -> (&Memory, usize) {
        match &self.storage {
            Storage::Part { whole, origin } => (whole.root_object().0, whole.root_object().1 + origin),
            Storage::View { of } => of.root_object(),
            Storage::Own { .. } | Storage::Host => (self, 0),
        }
    }

    /// `CL_MEM_HOST_PTR`: the application's own bytes, if it is they.
    pub fn host_pointer(&self) -> *mut u8 {
        if matches!(self.root_object().0.storage, Storage::Host) { self.start } else { std::ptr::null_mut() }
    }

    /// Whether `byte_size` bytes from `offset` lie in the buffer.
    pub fn contains(&self, offset: usize, byte_size: usize) -> bool {
        offset.checked_add(byte_size).is_some_and(|end_offset| end_offset <= self.size)
    }

    /// Whether two objects share bytes, and if so, each one's offset from the same start.
    pub fn shared_offsets(&self, other: &Memory) -> Option<(usize, usize)> {
        let ((own_root, my_offset), (other_root, its_offset)) = (self.root_object(), other.root_object());
        std::ptr::eq(own_root, other_root).then_some((my_offset, its_offset))
    }

    /// Whether a box of this object shares a byte with a box of another one. Both must have a span.
    pub fn box_overlaps(&self, own_box: (BoxLayout, Region), other: &Memory, other_box: (BoxLayout, Region)) -> bool {
        self.shared_offsets(other).is_some_and(|(my_offset, its_offset)| {
            boxes_overlap((own_box.0.moved_by(my_offset), own_box.1), (other_box.0.moved_by(its_offset), other_box.1))
        })
    }

    /// Whether the host may read, by the flags.
    pub fn host_may_read(&self) -> bool {
        self.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) == 0
    }

    /// Whether the host may write, by the flags.
    pub fn host_may_write(&self) -> bool {
        self.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS | IMMUTABLE) == 0
    }

    /// Whether nothing changes its bytes as long as it lives (cl_ext_immutable_memory_objects).
    pub fn is_immutable(&self) -> bool {
        self.flags & IMMUTABLE != 0
    }

    /// Registers a destructor callback; the last one registered runs first.
    pub fn on_destruction(&self, callback: DestructorCallback) {
        self.destructors.lock().push(callback);
    }

    /// Maps a region, which the caller has checked to lie in the buffer: counts it and returns where it is.
    ///
    /// # Errors
    /// As [`Memory::map_box`].
    pub fn map_region(&self, map_flags: cl_map_flags, offset: usize, byte_size: usize) -> Result<*mut u8> {
        self.map_box(map_flags, BoxLayout { offset, row_pitch: byte_size, slice_pitch: byte_size }, [byte_size, 1, 1])
    }

    /// Maps a box of bytes, as [`Memory::map_region`] does.
    ///
    /// # Errors
    /// "Mapping (and unmapping) overlapped regions in a memory object and/or associated memory objects [...] for writing
    /// is an error and will result in CL_INVALID_OPERATION".
    pub fn map_box(&self, map_flags: cl_map_flags, box_layout: BoxLayout, region: Region) -> Result<*mut u8> {
        let is_written = map_flags & !CL_MAP_READ != 0;
        let (root_memory, byte_origin) = self.root_object();
        let layout_at_origin = BoxLayout { offset: byte_origin + box_layout.offset, ..box_layout };
        let is_free = root_memory.mappings.lock().add_box(self.address(), layout_at_origin, region, is_written);
        ensure!(
            is_free,
            CL_INVALID_OPERATION,
            "the region overlaps one that is mapped{}",
            if is_written { "" } else { " for writing" }
        );
        self.map_count.fetch_add(1, Ordering::Relaxed);
        Ok(self.start.wrapping_add(box_layout.offset))
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// "CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer or clEnqueueMapImage for
    /// memobj."
    pub fn unmap_pointer(&self, pointer: *const u8) -> Result<()> {
        let (root_memory, _) = self.root_object();
        let offset = pointer.addr().checked_sub(root_memory.start.addr());
        let is_mapped = offset.is_some_and(|offset| root_memory.mappings.lock().remove_oldest(self.address(), offset));
        ensure!(is_mapped, CL_INVALID_VALUE, "mapped_ptr {pointer:p} is where no mapping of this object begins");
        self.map_count.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// How often it is mapped now (`CL_MEM_MAP_COUNT`).
    pub fn map_count(&self) -> usize {
        self.map_count.load(Ordering::Relaxed)
    }

    /// What tells this object from others while it lives.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // "The registered callback functions are called in the reverse order in which they were registered. [They] are
        // called and then the memory object's resources are freed".
        while let Some(callback) = self.destructors.get_mut().pop() {
            callback();
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Memory").field("start", &self.start).field("size", &self.size).finish_non_exhaustive()
    }
}

/// Where the bytes of a new object are, with contents of `host_pointer`, if the flags say so.
///
/// # Safety
/// As for [`Memory::new`].
unsafe fn allocate_storage(
    context: &Context,
    memory_flags: cl_mem_flags,
    byte_size: usize,
    host_pointer: *mut u8,
) -> Result<(*mut u8, Storage)> {
    if memory_flags & CL_MEM_USE_HOST_PTR != 0 {
        return Ok((host_pointer, Storage::Host));
    }
    let allocation = Allocation::new(byte_size, context.global_memory())?;
    if memory_flags & CL_MEM_COPY_HOST_PTR != 0 {
        // SAFETY: the caller vouches for `byte_size` bytes at `host_pointer`; the new memory has as many and is apart.
        unsafe { std::ptr::copy_nonoverlapping(host_pointer, allocation.start(), byte_size) };
    }
    Ok((allocation.start(), Storage::Own { _bytes: allocation }))
}

#[cfg(test)]
mod tests {
    use opencl_sys::{CL_MAP_WRITE, CL_MEM_READ_WRITE};

    use super::*;
    use crate::platform::Platform;

    fn context() -> Arc<Context> {
        Context::new(vec![Platform::get().device().clone()], Vec::new(), None)
    }

    fn buffer(byte_size: usize) -> Result<Arc<Memory>> {
        // SAFETY: no host pointer is used.
        unsafe { Memory::new(context(), CL_MEM_READ_WRITE, byte_size, std::ptr::null_mut(), Vec::new()) }
    }

    #[test]
    fn sizes_that_cannot_be() {
        let maximum = usize::try_from(Platform::get().device().max_allocation()).unwrap();
        for byte_size in [0, maximum + 1, usize::MAX] {
            assert_eq!(buffer(byte_size).unwrap_err().code(), CL_INVALID_BUFFER_SIZE, "{byte_size}");
        }
    }

    #[test]
    fn host_pointers_are_used_in_place_or_copied() {
        let mut host = vec![5_u8; 300];
        let pointer = host.as_mut_ptr();
        // SAFETY: the vector outlives both buffers.
        let make = |flags| unsafe { Memory::new(context(), flags, 300, pointer, Vec::new()).unwrap() };
        let (used, copied) = (make(CL_MEM_USE_HOST_PTR), make(CL_MEM_COPY_HOST_PTR));
        assert_eq!((used.start(), used.host_pointer()), (pointer, pointer));
        assert!(copied.start() != pointer && copied.host_pointer().is_null());
        // SAFETY: 300 bytes that nobody changes.
        assert_eq!(unsafe { std::slice::from_raw_parts(copied.start(), 300) }, &[5_u8; 300]);
        let part = used.sub_buffer(CL_MEM_READ_WRITE, 128, 16).unwrap();
        assert_eq!(part.host_pointer(), pointer.wrapping_add(128));
    }

    #[test]
    fn mappings_are_counted_and_writing_excludes_writing() {
        let memory = buffer(1024).unwrap();
        let part = memory.sub_buffer(CL_MEM_READ_WRITE, 256, 256).unwrap();
        let first = memory.map_region(CL_MAP_WRITE, 0, 300).unwrap();
        assert_eq!(part.map_region(CL_MAP_WRITE, 0, 8).unwrap_err().code(), CL_INVALID_OPERATION);
        let second = part.map_region(CL_MAP_WRITE, 44, 8).unwrap();
        assert_eq!(second, memory.start().wrapping_add(300));
        memory.map_region(CL_MAP_READ, 0, 1024).unwrap();
        assert_eq!((memory.map_count(), part.map_count()), (2, 1));
        assert_eq!(part.unmap_pointer(first).unwrap_err().code(), CL_INVALID_VALUE);
        assert_eq!(memory.unmap_pointer(first.wrapping_add(1)).unwrap_err().code(), CL_INVALID_VALUE);
        memory.unmap_pointer(first).unwrap();
        part.unmap_pointer(second).unwrap();
        memory.unmap_pointer(memory.start()).unwrap();
        assert_eq!((memory.map_count(), part.map_count()), (0, 0));
        assert_eq!(memory.unmap_pointer(first).unwrap_err().code(), CL_INVALID_VALUE);
    }

    #[test]
    fn parts_keep_the_whole_and_callbacks_run_last_first() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let memory = buffer(1024).unwrap();
        for name in 0..3 {
            let order = order.clone();
            memory.on_destruction(Box::new(move || order.lock().push(name)));
        }
        let part = memory.sub_buffer(CL_MEM_READ_WRITE, 0, 128).unwrap();
        drop(memory);
        assert!(order.lock().is_empty());
        drop(part);
        assert_eq!(*order.lock(), [2, 1, 0]);
    }
}
