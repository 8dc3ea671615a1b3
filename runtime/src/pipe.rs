//! Pipes: what the host makes of them, and where kernels find what.
//!
//! The bytes are those that the built-in library works on (`kernels/cl/pipe.cl`): a head with sizes and counters, two
//! numbers for each packet's place, then the packets.

/// Most bytes of a packet: CL_DEVICE_PIPE_MAX_PACKET_SIZE.
pub const MAX_PACKET_SIZE: u32 = 1024;
/// Pipes that a kernel may have: CL_DEVICE_MAX_PIPE_ARGS.
pub const MAX_ARGUMENTS: u32 = 16;
/// Reservations that a work-item may hold of a pipe: CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS. There is no limit but the
/// pipe's capacity.
pub const MAX_RESERVATIONS: u32 = 1024;

/// Bytes of the head.
const HEAD: usize = 3 * 128;
/// Bytes of the numbers of a place.
const NOTES: usize = 8;
/// What packets are aligned to: their types are at most that large, or consist of such.
const ALIGNMENT: usize = 128;

/// What is known of a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pipe {
    /// Bytes of a packet.
    pub packet_size: u32,
    /// Packets that it can hold.
    pub max_packets: u32,
}

impl Pipe {
    /// The bytes it takes; none if they cannot be counted.
    pub fn byte_size(self) -> Option<usize> {
        let (packet_size, packet_count) = (self.packet_size as usize, self.max_packets as usize);
        let notes = packet_count.checked_mul(NOTES)?.checked_add(HEAD)?.checked_next_multiple_of(ALIGNMENT)?;
        notes.checked_add(packet_count.checked_mul(packet_size)?)
    }

    /// What the first bytes of an empty pipe are; the rest is zero.
    pub fn initial_header(self) -> [u8; 8] {
        let mut header = [0; 8];
        let (packet_size, max_packets) = header.split_at_mut(4);
        packet_size.copy_from_slice(&self.packet_size.to_ne_bytes());
        max_packets.copy_from_slice(&self.max_packets.to_ne_bytes());
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_lie_behind_head_and_notes() {
        let bytes = |packet_size, max_packets| Pipe { packet_size, max_packets }.byte_size();
        assert_eq!(bytes(4, 1), Some(512 + 4));
        assert_eq!(bytes(16, 16), Some(512 + 256));
        assert_eq!(bytes(3, 17), Some(640 + 51));
        assert_eq!(bytes(u32::MAX, u32::MAX), None);
    }
}
