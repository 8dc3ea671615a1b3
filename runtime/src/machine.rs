//! What the system says about the processor and the memory of this machine.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use rustix::thread::CpuSet;

use crate::control_groups::ControlGroups;

/// The processor and the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The processor's brand string.
    pub brand: String,
    /// The processor's vendor string, such as `GenuineIntel`.
    pub vendor: String,
    /// The highest clock frequency in MHz; 0 when the system does not say.
    pub clock_mhz: u32,
    /// Bytes of memory that this process may have.
    pub memory: u64,
    /// Bytes of the largest data cache.
    pub cache: u64,
    /// Bytes of a line of it.
    pub cache_line: u32,
    /// Bytes of the widest vector registers that the processor computes in.
    pub vector: u32,
    /// Whether it has a fused multiply-add.
    pub fma: bool,
}

impl Machine {
    /// What the system says of this machine.
    pub fn this_machine() -> Self {
        let read_file = |path: &str| fs::read_to_string(path).ok();
        let control_groups = ControlGroups::of_this_process(Path::new("/"));
        Self::from_files(&read_file, control_groups.memory_limit().unwrap_or(u64::MAX))
    }

    /// The machine that `read_file` gives the files of, where this process may have at most `granted` bytes of memory.
    fn from_files(read_file: &dyn Fn(&str) -> Option<String>, granted: u64) -> Self {
        let cpuinfo = read_file("/proc/cpuinfo").unwrap_or_default();
        let cpu_field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|field| field.trim() == name))?;
            Some(line.split_once(':')?.1.trim())
        };
        let (cache_bytes, cache_line) = largest_cache(read_file);
        Self {
            // Some processors pad theirs with spaces.
            brand: cpu_field("model name").unwrap_or("CPU").split_whitespace().collect::<Vec<_>>().join(" "),
            vendor: cpu_field("vendor_id").unwrap_or("unknown").to_owned(),
            clock_mhz: clock_megahertz(read_file, cpu_field("cpu MHz")),
            memory: installed_memory(read_file).min(granted),
            cache: cache_bytes,
            cache_line,
            vector: vector_bytes(),
            fma: std::arch::is_x86_feature_detected!("fma"),
        }
    }
}

/// The processors this thread may run on, in ascending order.
pub fn affine_processors() -> Vec<usize> {
    let processors_of = |set: CpuSet| (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect();
    let processors: Vec<usize> = rustix::thread::sched_getaffinity(None).map_or(Vec::new(), processors_of);
    // More processors than the set has room for.
    if processors.is_empty() { vec![0] } else { processors }
}

/// How many processors this thread may run on.
pub fn allowed_processors() -> usize {
    // More processors than a set has room for: the standard library knows how many there are.
    let processor_count = rustix::thread::sched_getaffinity(None).map(|processors| processors.count() as usize);
    processor_count.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, NonZeroUsize::get)).max(1)
}

/// As many threads as can be of use: a processor for each by the affinity mask, and time for each by the quotas of the
/// process's control groups. A quota is rounded to the nearest number: who may use one and a half processors is better
/// served by two threads that pause for a quarter of the time than by one.
pub fn usable_processors() -> usize {
    granted_processors().min(allowed_processors())
}

/// Bytes of memory that this process may have, by the machine and by its control groups.
pub fn usable_memory() -> u64 {
    let granted = ControlGroups::of_this_process(Path::new("/")).memory_limit().unwrap_or(u64::MAX);
    installed_memory(&|path| fs::read_to_string(path).ok()).min(granted)
}

/// How many processors' time the quotas of the process's control groups leave it.
pub fn granted_processors() -> usize {
    ControlGroups::of_this_process(Path::new("/")).allowed_processors().unwrap_or(usize::MAX)
}

/// The frequency the processor can reach, or else the one it has now.
fn clock_megahertz(read_file: &dyn Fn(&str) -> Option<String>, current_frequency: Option<&str>) -> u32 {
    let maximum = read_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    let maximum = maximum.and_then(|kilohertz| kilohertz.trim().parse::<u32>().ok()).map(|kilohertz| kilohertz / 1000);
    maximum
        .or_else(|| {
            current_frequency
                .and_then(|megahertz| megahertz.parse::<f64>().ok())
                .map(|megahertz| megahertz.round() as u32)
        })
        .unwrap_or(0)
}

/// Bytes of the machine's memory.
fn installed_memory(read_file: &dyn Fn(&str) -> Option<String>) -> u64 {
    read_file("/proc/meminfo")
        .and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        })
        .map_or(1 << 30, |kibibytes| kibibytes * 1024)
}

/// Size and line length of the largest cache that holds data.
fn largest_cache(read_file: &dyn Fn(&str) -> Option<String>) -> (u64, u32) {
    (0..8).filter_map(|index| data_cache(read_file, index)).max().unwrap_or((32 << 10, 64))
}

/// Size and line length of a cache of the first processor, given by its index, if it holds data.
fn data_cache(read_file: &dyn Fn(&str) -> Option<String>, index: u32) -> Option<(u64, u32)> {
    let read_cache_file = |name: &str| read_file(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}"));
    let holds_data = read_cache_file("type")?.trim() != "Instruction";
    let size = read_cache_file("size")?;
    let (digits, unit_bytes) = match size.trim() {
        text if text.ends_with('K') => (text.trim_end_matches('K'), 1 << 10),
        text if text.ends_with('M') => (text.trim_end_matches('M'), 1 << 20),
        text => (text, 1),
    };
    let line_bytes = read_cache_file("coherency_line_size")?.trim().parse().ok()?;
    holds_data.then_some((digits.parse::<u64>().ok()? * unit_bytes, line_bytes))
}

/// What the processor calls itself.
pub fn processor_name() -> String {
    Machine::this_machine().brand
}

/// Bits of the widest registers that kernels use, where at most `limit` may be used.
pub fn register_bits(limit: Option<u32>) -> u32 {
    let widest = vector_bytes() * 8;
    limit.map_or(widest, |limit| widest.min(limit.max(128)))
}

/// Bytes of a vector register.
fn vector_bytes() -> u32 {
    if std::arch::is_x86_feature_detected!("avx512f") {
        64
    } else if std::arch::is_x86_feature_detected!("avx") {
        32
    } else {
        16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_the_system_writes_them() {
        let read_file = |path: &str| {
            let text = match path {
                "/proc/cpuinfo" => {
                    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC  9: x\ncpu MHz\t\t: 2299.6\n"
                }
                "/proc/meminfo" => "MemTotal:       1024 kB\nMemFree:  1 kB\n",
                p if p.ends_with("index0/type") => "Data\n",
                p if p.ends_with("index0/size") => "48K\n",
                p if p.ends_with("index1/type") => "Instruction\n",
                p if p.ends_with("index1/size") => "512M\n",
                p if p.ends_with("index2/type") => "Unified\n",
                p if p.ends_with("index2/size") => "2M\n",
                p if p.ends_with("coherency_line_size") => "64\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        let machine = Machine::from_files(&read_file, 524_288);
        assert_eq!((machine.brand.as_str(), machine.vendor.as_str()), ("AMD EPYC 9: x", "AuthenticAMD"));
        assert_eq!(machine.clock_mhz, 2300);
        assert_eq!(machine.memory, 524_288);
        assert_eq!((machine.cache, machine.cache_line), (2 << 20, 64));
        assert_eq!(Machine::from_files(&read_file, u64::MAX).memory, 1024 << 10);
    }

    #[test]
    fn a_system_that_says_nothing_gives_a_usable_machine() {
        let machine = Machine::from_files(&|_| None, u64::MAX);
        assert_eq!(machine.memory, 1 << 30);
        assert!(!machine.brand.is_empty() && machine.cache > 0);
    }
}
