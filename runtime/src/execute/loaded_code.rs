//! Machine code in memory.

use std::ffi::c_void;
use std::fmt;
use std::sync::OnceLock;

use lockstep_protocol::code_image::{CodeImage, ImageFault, ImportSlot, SLOT_BYTES};
use lockstep_protocol::debug_object::DebugFault;
use lockstep_protocol::kernel_abi::KernelEntry;
use lockstep_protocol::kernel_object::KernelObject;
use memmap2::{Mmap, MmapMut};

use super::announcement::Announcement;
use super::symbols::list_symbols;

/// An image in memory that may be executed and not be written to. The memory goes with it, so whoever runs the code keeps it.
pub struct LoadedCode {
    /// That debuggers know it, if they do; it goes before the memory does.
    announcement: Option<Announcement>,
    memory: Mmap,
    entry: usize,
}

/// Why an image is not in memory.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The image is not one that may be mapped.
    #[error("the code is damaged: {0}")]
    Image(ImageFault),
    /// What debuggers would get does not belong to the image.
    #[error("the code is damaged: {0}")]
    Debug(DebugFault),
    /// The system gives no memory for code.
    #[error("there is no memory for code: {0}")]
    Memory(std::io::Error),
}

impl LoadedCode {
    /// Puts an image into memory.
    ///
    /// # Errors
    /// When the image is damaged, or the system refuses memory or its execution.
    pub fn map_image(image: &CodeImage) -> Result<LoadedCode, LoadError> {
        image.check_bounds().map_err(LoadError::Image)?;
        let mut memory = MmapMut::map_anon(image.bytes.len()).map_err(LoadError::Memory)?;
        memory.copy_from_slice(&image.bytes);
        let addresses = function_addresses();
        for &ImportSlot { offset, function } in &image.imports {
            let slot = offset as usize..offset as usize + SLOT_BYTES;
            memory[slot].copy_from_slice(&addresses[function as usize].to_ne_bytes());
        }
        let memory = memory.make_exec().map_err(LoadError::Memory)?;
        Ok(LoadedCode { announcement: None, memory, entry: image.entry as usize })
    }

    /// Puts a kernel's image into memory, and tells debuggers and profilers of it if they are to know.
    ///
    /// # Errors
    /// As [`LoadedCode::map_image`], and when what debuggers would get is damaged.
    pub fn map_object(object: &KernelObject) -> Result<LoadedCode, LoadError> {
        let mut code = LoadedCode::map_image(&object.image)?;
        if let Some(debug_object) = &object.debug_object {
            let start = code.memory.as_ptr() as usize;
            let addresses = start..start + code.memory.len();
            code.announcement = Some(Announcement::announce(debug_object, &addresses).map_err(LoadError::Debug)?);
        }
        Ok(code)
    }

    /// Where the image's function begins.
    pub fn entry_address(&self) -> *const c_void {
        self.memory[self.entry..].as_ptr().cast()
    }

    /// The function of a kernel's image. It may be called as long as the code is in memory.
    pub fn kernel_entry(&self) -> KernelEntry {
        // SAFETY: code generation gave the function at the entry this type; its address is not null.
        unsafe { std::mem::transmute::<*const c_void, KernelEntry>(self.entry_address()) }
    }
}

impl fmt::Debug for LoadedCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LoadedCode({:?}, {} bytes)", self.entry_address(), self.memory.len())
    }
}

/// The addresses of [`IMPORTED_FUNCTIONS`](lockstep_protocol::code_image::IMPORTED_FUNCTIONS), in their order.
fn function_addresses() -> &'static [usize] {
    static ADDRESSES: OnceLock<Vec<usize>> = OnceLock::new();
    ADDRESSES.get_or_init(|| list_symbols().into_iter().map(|(_, address)| address).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_protocol::code_image::IMPORTED_FUNCTIONS;
    use lockstep_protocol::debug_object::{DebugObject, SectionAddress};
    use lockstep_protocol::item_form::ItemForm;
    use lockstep_protocol::kernel_abi::ScratchNeeds;

    /// `mov eax, 42; ret`
    const ANSWER: [u8; 6] = [0xb8, 42, 0, 0, 0, 0xc3];

    #[test]
    fn code_runs_from_its_entry() {
        let bytes = [&[0xcc; 8][..], &ANSWER].concat();
        let code = LoadedCode::map_image(&CodeImage { bytes, entry: 8, imports: Vec::new() }).expect("it is whole");
        // SAFETY: the code is a function of this type, and stays mapped.
        let answer: extern "C" fn() -> i32 = unsafe { std::mem::transmute(code.entry_address()) };
        assert_eq!(answer(), 42);
    }

    #[test]
    fn slots_hold_the_functions_that_the_image_names() {
        let function = IMPORTED_FUNCTIONS.iter().position(|&name| name == "floor").expect("it is one") as u32;
        // jmp *2(%rip), and two bytes up to the slot
        let mut bytes = vec![0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc];
        bytes.extend([0; SLOT_BYTES]);
        let imports = vec![ImportSlot { offset: 8, function }];
        let code = LoadedCode::map_image(&CodeImage { bytes, entry: 0, imports }).expect("it is whole");
        // SAFETY: the code jumps to a function of this type, and stays mapped.
        let floor: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(code.entry_address()) };
        assert_eq!(floor(2.5), 2.0);
    }

    #[test]
    fn damaged_images_are_refused() {
        let image = CodeImage { bytes: ANSWER.to_vec(), entry: 6, imports: Vec::new() };
        let error = LoadedCode::map_image(&image).expect_err("the entry is outside");
        assert!(error.to_string().contains("the entry at 6"), "{error}");
    }

    #[test]
    fn code_is_not_run_whose_object_for_debuggers_is_damaged() {
        let image = CodeImage { bytes: ANSWER.to_vec(), entry: 0, imports: Vec::new() };
        let debug_object = DebugObject {
            variant_name: "damaged [no lanes]".to_owned(),
            bytes: b"\x7fELF and no section".to_vec(),
            sections: vec![SectionAddress { position: 1000, image_offset: 0 }],
            code_bytes: 6,
        };
        let mut object = KernelObject {
            image,
            needs: ScratchNeeds::default(),
            stack_bytes: 0,
            form: ItemForm::OneByOne,
            alternatives: None,
            debug_object: Some(debug_object.into()),
        };
        let error = LoadedCode::map_object(&object).expect_err("the section is outside");
        assert!(matches!(error, LoadError::Debug(DebugFault::Section(0))), "{error}");
        object.debug_object = None;
        LoadedCode::map_object(&object).expect("debuggers are not to know it");
    }

    #[test]
    fn every_function_that_images_may_call_is_there_at_its_index() {
        let names: Vec<&str> = list_symbols().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, IMPORTED_FUNCTIONS);
    }
}
