//! What debuggers and profilers get of a kernel's code, beside its image.
//!
//! It is the object file that LLVM made, whose sections the image's bytes were taken from: with the kernel's name, the lines of its
//! source and how frames lie on the stack. Who has the image in memory writes the sections' addresses into it and reads nothing
//! else of it.

use serde::{Deserialize, Serialize};

/// Most bytes of an object; lines of the longest code that compiles within its time are some megabytes.
pub const MOST_BYTES: usize = 64 << 20;

/// Most bytes of a variant's name.
pub const MOST_NAME_BYTES: usize = 1024;

/// The first bytes of an ELF object.
const ELF_MAGIC: &[u8] = b"\x7fELF";

/// A kernel's object for debuggers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugObject {
    /// The kernel's name and, in brackets, what kind of code this is.
    pub variant_name: String,
    /// The bytes of the object, in ELF form.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// Where the object says at which addresses its sections are.
    pub sections: Vec<SectionAddress>,
    /// How many of the image's bytes, from its start, are code.
    pub code_bytes: u32,
}

/// The place of a section's address in an object, and of its bytes in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionAddress {
    /// Where the eight bytes of the address are, in bytes from the start of the object.
    pub position: u32,
    /// Where the section begins, in bytes from the start of the image.
    pub image_offset: u32,
}

/// Bytes of an address in an object.
pub const ADDRESS_BYTES: usize = 8;

/// What is wrong with an object for debuggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DebugFault {
    /// It is no ELF object, or larger than any is.
    #[error("{0} bytes for debuggers that are no object")]
    Object(usize),
    /// Its name is empty, too long, or not one line of text.
    #[error("a variant without a name")]
    Name,
    /// A section's address or bytes would be outside.
    #[error("a section at {0} of the image whose address is elsewhere")]
    Section(u32),
    /// There is more code than image.
    #[error("{0} bytes of code, more than there are")]
    Code(u32),
}

impl DebugObject {
    /// Checks what must hold of the object before it is used with an image of so many bytes.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check_bounds(&self, image_bytes: usize) -> Result<(), DebugFault> {
        let size = self.bytes.len();
        if size > MOST_BYTES || !self.bytes.starts_with(ELF_MAGIC) {
            return Err(DebugFault::Object(size));
        }
        let name = &self.variant_name;
        if name.is_empty() || name.len() > MOST_NAME_BYTES || name.contains(char::is_control) {
            return Err(DebugFault::Name);
        }
        for &SectionAddress { position, image_offset } in &self.sections {
            let address_end = (position as usize).saturating_add(ADDRESS_BYTES);
            if address_end > size || image_offset as usize >= image_bytes {
                return Err(DebugFault::Section(image_offset));
            }
        }
        if self.code_bytes as usize > image_bytes {
            return Err(DebugFault::Code(self.code_bytes));
        }
        Ok(())
    }

    /// The object's bytes with the addresses that its sections have when the image begins at this one.
    ///
    /// # Panics
    /// When [`DebugObject::check_bounds`] fails.
    pub fn place_at(&self, image_address: u64) -> Vec<u8> {
        let mut placed_bytes = self.bytes.clone();
        for &SectionAddress { position, image_offset } in &self.sections {
            let field = position as usize..position as usize + ADDRESS_BYTES;
            placed_bytes[field].copy_from_slice(&(image_address + u64::from(image_offset)).to_le_bytes());
        }
        placed_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> DebugObject {
        DebugObject {
            variant_name: "saxpy [16 lanes]".to_owned(),
            bytes: [ELF_MAGIC, &[7; 28]].concat(),
            sections: vec![SectionAddress { position: 16, image_offset: 64 }],
            code_bytes: 80,
        }
    }

    #[test]
    fn sections_get_their_addresses_and_the_rest_stays() {
        assert_eq!(object().check_bounds(100), Ok(()));
        let placed = object().place_at(0x7f00_0000_0000);
        assert_eq!(placed[16..24], 0x7f00_0000_0040_u64.to_le_bytes());
        assert_eq!((&placed[..16], &placed[24..]), (&object().bytes[..16], &object().bytes[24..]));
    }

    #[test]
    fn what_is_wrong_is_found() {
        let with_bytes = |bytes| DebugObject { bytes, ..object() }.check_bounds(100);
        assert_eq!(with_bytes(Vec::new()), Err(DebugFault::Object(0)));
        assert_eq!(with_bytes(vec![0; 40]), Err(DebugFault::Object(40)));
        let large = [ELF_MAGIC, &vec![0; MOST_BYTES]].concat();
        assert_eq!(with_bytes(large), Err(DebugFault::Object(MOST_BYTES + 4)));
        for name in ["", "a\nffff 1 b", "a\u{85}b", &"x".repeat(MOST_NAME_BYTES + 1)] {
            let named = DebugObject { variant_name: name.to_owned(), ..object() };
            assert_eq!(named.check_bounds(100), Err(DebugFault::Name), "{name}");
        }
        for (position, image_offset) in [(25, 0), (u32::MAX, 0), (16, 100), (16, u32::MAX)] {
            let sections = vec![SectionAddress { position, image_offset }];
            let fault = DebugObject { sections, ..object() }.check_bounds(100);
            assert_eq!(fault, Err(DebugFault::Section(image_offset)));
        }
        assert_eq!(object().check_bounds(79), Err(DebugFault::Code(80)));
    }
}
