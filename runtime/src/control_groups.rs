//! Control groups: how much memory and processor time the system grants this process, by its own group and by every
//! group above it.
//!
//! `/proc/self/cgroup` names the group in each hierarchy, `/proc/self/mountinfo` says where the hierarchies are mounted
//! and from which group on. Version 1 has a hierarchy for each controller, version 2 one for all; a machine may have
//! both, with some controllers in each. A container often sees neither the names nor the folders of the groups above its
//! own: what it sees is what can be counted.
//!
//! Files that are missing, and the words and numbers that mean "no limit", grant everything.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Version 1 has no word for "no limit", only a number close to the largest one.
const NO_LIMIT: u64 = 1 << 62;

/// The groups that limit this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlGroups {
    /// The text of `/proc/self/cgroup` that they were found by.
    memberships: String,
    /// Folders of the groups that may limit memory.
    memory: Vec<PathBuf>,
    /// Folders of the groups that may limit the time on processors.
    processors: Vec<PathBuf>,
}

/// A place where a hierarchy of groups can be seen.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The group whose folder the mount point is.
    group: PathBuf,
    /// The mount point.
    point: PathBuf,
    /// The controllers of a hierarchy of version 1; none means version 2.
    controllers: Option<Vec<String>>,
}

impl ControlGroups {
    /// The groups of this process. `root_folder` is the folder with `proc` and all mount points: `/`, except in tests.
    pub fn of_this_process(root_folder: &Path) -> Self {
        let memberships = read_memberships(root_folder);
        let mounts = fs::read_to_string(root_folder.join("proc/self/mountinfo")).unwrap_or_default();
        let mounts: Vec<Mount> = mounts.lines().filter_map(parse_mount).collect();
        let folders = |controller: &str| find_folders(root_folder, &memberships, &mounts, controller);
        Self { memory: folders("memory"), processors: folders("cpu"), memberships }
    }

    /// Whether the process still is in these groups.
    pub fn are_current(&self, root_folder: &Path) -> bool {
        read_memberships(root_folder) == self.memberships
    }

    /// The least limit of memory, in bytes; none if there is no limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory.iter().filter_map(|folder| memory_limit(folder)).min()
    }

    /// Bytes of memory that the process may still use: the least of what each group has left, where pages of files that
    /// were not used lately count as free. None if there is no limit.
    pub fn memory_left(&self) -> Option<u64> {
        self.memory.iter().filter_map(|folder| memory_left(folder)).min()
    }

    /// How many processors' time the process may use, rounded to the nearest number and from one half up, but at least
    /// one; none if there is no limit.
    pub fn allowed_processors(&self) -> Option<usize> {
        let least_quota = self.processors.iter().filter_map(|folder| processor_quota(folder)).reduce(f64::min)?;
        Some((least_quota + 0.5).floor().max(1.0) as usize)
    }
}

fn read_memberships(root_folder: &Path) -> String {
    fs::read_to_string(root_folder.join("proc/self/cgroup")).unwrap_or_default()
}

/// Folders of the process's group and those above it in the hierarchies that may have this controller.
fn find_folders(root_folder: &Path, memberships: &str, mounts: &[Mount], controller: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in memberships.lines() {
        // "hierarchy:controllers:group"; version 2 is hierarchy 0, without a list.
        let mut fields = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(group_path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let is_version_2 = hierarchy == "0" && controllers.is_empty();
        if !is_version_2 && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        let is_of_hierarchy = |mount: &&Mount| match &mount.controllers {
            None => is_version_2,
            Some(names) => !is_version_2 && names.iter().any(|name| name == controller),
        };
        let mounts: Vec<&Mount> = mounts.iter().filter(is_of_hierarchy).collect();
        let shown_paths: Vec<PathBuf> =
            mounts.iter().flat_map(|mount| shown_folders(mount, Path::new(group_path))).collect();
        // A mount that does not show the group by its name was made for a group above it, in another namespace.
        let mount_points = || mounts.iter().map(|mount| mount.point.clone()).collect();
        let shown_paths = if shown_paths.is_empty() { mount_points() } else { shown_paths };
        folders.extend(shown_paths.iter().map(|folder| path_below(root_folder, folder)));
    }
    folders.sort();
    folders.dedup();
    folders
}

/// The folders of a group and of those above it that a mount shows; none if it does not show the group.
fn shown_folders(mount: &Mount, group_path: &Path) -> Vec<PathBuf> {
    let Ok(name) = group_path.strip_prefix(&mount.group) else { return Vec::new() };
    if name.components().any(|component| component == Component::ParentDir) {
        return Vec::new();
    }
    name.ancestors().map(|name| mount.point.join(name)).collect()
}

/// An absolute path, taken to begin at `root_folder`.
fn path_below(root_folder: &Path, path: &Path) -> PathBuf {
    root_folder.join(path.strip_prefix("/").unwrap_or(path))
}

/// A line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)), if it is about control groups.
fn parse_mount(line: &str) -> Option<Mount> {
    let (left_half, right_half) = line.split_once(" - ")?;
    let mut left_half = left_half.split(' ').skip(3);
    let (group_path, mount_point) = (unescape_path(left_half.next()?), unescape_path(left_half.next()?));
    let mut right_half = right_half.split(' ');
    let (file_system, options) = (right_half.next()?, right_half.nth(1).unwrap_or_default());
    let controllers = match file_system {
        "cgroup2" => None,
        "cgroup" => Some(options.split(',').map(str::to_owned).collect()),
        _ => return None,
    };
    Some(Mount { group: group_path.into(), point: mount_point.into(), controllers })
}

/// A path of `/proc/self/mountinfo`, where a backslash and three octal digits stand for spaces and the like.
fn unescape_path(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let escaped = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(u8::is_ascii);
        match escaped {
            Some(letter) => {
                plain.push(char::from(letter));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// The number in one of a group's files.
fn read_number(folder: &Path, file_name: &str) -> Option<u64> {
    fs::read_to_string(folder.join(file_name)).ok()?.trim().parse().ok()
}

/// Bytes that a group may use: those from which on it is slowed down (`memory.high`) count as its limit, too.
fn memory_limit(folder: &Path) -> Option<u64> {
    let files = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    files
        .iter()
        .filter_map(|file_name| read_number(folder, file_name))
        .min()
        .filter(|&byte_limit| byte_limit < NO_LIMIT)
}

/// Bytes that a group with a limit may use beside those in use.
fn memory_left(folder: &Path) -> Option<u64> {
    let byte_limit = memory_limit(folder)?;
    let used_bytes = read_number(folder, "memory.current").or_else(|| read_number(folder, "memory.usage_in_bytes"))?;
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let statistic = |name: &str| {
        let value = statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse::<u64>().ok()
    };
    // Version 1 has the group's own pages and, under the second name, those of all below it as well.
    let reclaimable = statistic("total_inactive_file").or_else(|| statistic("inactive_file")).unwrap_or(0);
    Some(byte_limit.saturating_sub(used_bytes.saturating_sub(reclaimable)))
}

/// How many processors' time a group may use.
fn processor_quota(folder: &Path) -> Option<f64> {
    let of_version_2 = || {
        let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
        let (quota_time, period) = text.trim().split_once(' ')?;
        Some((quota_time.parse().ok()?, period.parse().ok()?))
    };
    // Without a quota this is -1.
    let of_version_1 = || Some((read_number(folder, "cpu.cfs_quota_us")?, read_number(folder, "cpu.cfs_period_us")?));
    let (quota_time, period): (u64, u64) = of_version_2().or_else(of_version_1)?;
    (period > 0).then(|| quota_time as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up system: files by their paths.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn groups(files: &[(&str, &str)]) -> (tempfile::TempDir, ControlGroups) {
        let root = system(files);
        let control_groups = ControlGroups::of_this_process(root.path());
        (root, control_groups)
    }

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_least_of_nested_groups_of_version_2_counts() {
        let (_root, control_groups) = groups(&[
            ("proc/self/cgroup", "0::/a.slice/b.service\n"),
            ("proc/self/mountinfo", &format!("22 1 254:0 / / rw - ext4 /dev/vda rw\n{UNIFIED}")),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 1\n"),
            ("sys/fs/cgroup/a.slice/memory.max", "1000000\n"),
            ("sys/fs/cgroup/a.slice/memory.high", "max\n"),
            ("sys/fs/cgroup/a.slice/memory.current", "900000\n"),
            ("sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 50000\nactive_file 7\n"),
            ("sys/fs/cgroup/a.slice/cpu.max", "400000 100000\n"),
            ("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n"),
            ("sys/fs/cgroup/a.slice/b.service/memory.high", "800000\n"),
            ("sys/fs/cgroup/a.slice/b.service/memory.current", "500000\n"),
            ("sys/fs/cgroup/a.slice/b.service/memory.stat", "inactive_file 1\n"),
            ("sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n"),
            // A neighbour's.
            ("sys/fs/cgroup/a.slice/c.service/memory.max", "4096\n"),
            ("sys/fs/cgroup/a.slice/c.service/cpu.max", "10000 100000\n"),
        ]);
        assert_eq!(control_groups.memory_limit(), Some(800_000));
        assert_eq!(control_groups.memory_left(), Some(150_000), "the slice has less left than the service");
        assert_eq!(control_groups.allowed_processors(), Some(4));
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller() {
        let mounts = "34 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let memory = "sys/fs/cgroup/memory";
        let (_root, control_groups) = groups(&[
            ("proc/self/cgroup", "5:memory:/jobs/one\n4:cpu,cpuacct:/batch\n1:name=systemd:/x\n0::/jobs\n"),
            ("proc/self/mountinfo", mounts),
            (&format!("{memory}/memory.limit_in_bytes"), "9223372036854771712\n"),
            (&format!("{memory}/memory.usage_in_bytes"), "77777777\n"),
            (&format!("{memory}/jobs/memory.limit_in_bytes"), "5000000\n"),
            (&format!("{memory}/jobs/memory.usage_in_bytes"), "1000000\n"),
            (&format!("{memory}/jobs/memory.stat"), "inactive_file 5\ntotal_inactive_file 400000\n"),
            (&format!("{memory}/jobs/one/memory.limit_in_bytes"), "9223372036854771712\n"),
            ("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "250000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            // Not the hierarchy that has the controller.
            ("sys/fs/cgroup/cpu,cpuacct/jobs/one/memory.limit_in_bytes", "1\n"),
        ]);
        assert_eq!((control_groups.memory_limit(), control_groups.memory_left()), (Some(5_000_000), Some(4_400_000)));
        assert_eq!(control_groups.allowed_processors(), Some(3));
    }

    #[test]
    fn a_machine_with_both_versions_may_have_limits_in_both() {
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let (_root, control_groups) = groups(&[
            ("proc/self/cgroup", "5:memory:/m\n0::/u\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "3000\n"),
            ("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "1000\n"),
            ("sys/fs/cgroup/unified/u/cpu.max", "50000 100000\n"),
        ]);
        assert_eq!((control_groups.memory_limit(), control_groups.memory_left()), (Some(3000), Some(2000)));
        assert_eq!(control_groups.allowed_processors(), Some(1));
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_mount_point() {
        // With the host's namespace the names are the host's; with one of its own the group is called "/".
        for (group_path, root) in [("/docker/1f", "/docker/1f"), ("/", "/"), ("/", "/../.."), ("/../other", "/")] {
            let mount = format!("30 23 0:26 {root} /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
            let (_root, control_groups) = groups(&[
                ("proc/self/cgroup", &format!("0::{group_path}\n")),
                ("proc/self/mountinfo", &mount),
                ("sys/fs/cgroup/memory.max", "7000\n"),
                ("sys/fs/cgroup/memory.current", "6000\n"),
                ("sys/fs/cgroup/cpu.max", "200000 100000\n"),
            ]);
            let found =
                (control_groups.memory_limit(), control_groups.memory_left(), control_groups.allowed_processors());
            assert_eq!(found, (Some(7000), Some(1000), Some(2)), "{group_path} at {root}");
        }
    }

    #[test]
    fn groups_within_a_containers_own_are_found_by_their_names() {
        let (_root, control_groups) = groups(&[
            ("proc/self/cgroup", "0::/docker/1f/app\n"),
            ("proc/self/mountinfo", "30 23 0:26 /docker/1f /sys/fs/cgroup\\040here ro - cgroup2 cgroup rw\n"),
            ("sys/fs/cgroup here/memory.max", "7000\n"),
            ("sys/fs/cgroup here/memory.current", "1\n"),
            ("sys/fs/cgroup here/app/memory.max", "5000\n"),
            ("sys/fs/cgroup here/app/memory.current", "1\n"),
        ]);
        assert_eq!((control_groups.memory_limit(), control_groups.memory_left()), (Some(5000), Some(4999)));
    }

    #[test]
    fn a_system_without_groups_or_limits_grants_everything() {
        let nothing = |control_groups: ControlGroups| {
            assert_eq!(
                (control_groups.memory_limit(), control_groups.memory_left(), control_groups.allowed_processors()),
                (None, None, None)
            );
        };
        nothing(groups(&[]).1);
        nothing(groups(&[("proc/self/cgroup", "nonsense\n0::/\n"), ("proc/self/mountinfo", "nonsense\n")]).1);
        let unlimited = [
            ("proc/self/cgroup", "0::/gone (deleted)\n"),
            ("proc/self/mountinfo", UNIFIED),
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ];
        nothing(groups(&unlimited).1);
    }

    #[test]
    fn more_than_the_limit_in_use_leaves_nothing() {
        let (_root, control_groups) = groups(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", UNIFIED),
            ("sys/fs/cgroup/memory.high", "7000\n"),
            ("sys/fs/cgroup/memory.current", "8000\n"),
            ("sys/fs/cgroup/memory.stat", "inactive_file 100\n"),
        ]);
        assert_eq!(control_groups.memory_left(), Some(0));
    }

    #[test]
    fn quotas_are_rounded_and_never_to_nothing() {
        for (quota, processors) in
            [(10_000, 1), (50_000, 1), (140_000, 1), (150_000, 2), (200_000, 2), (249_999, 2), (250_000, 3)]
        {
            let (_root, control_groups) = groups(&[
                ("proc/self/cgroup", "0::/\n"),
                ("proc/self/mountinfo", UNIFIED),
                ("sys/fs/cgroup/cpu.max", &format!("{quota} 100000\n")),
            ]);
            assert_eq!(control_groups.allowed_processors(), Some(processors), "{quota}");
        }
    }

    #[test]
    fn a_process_that_was_moved_is_noticed() {
        let (root, control_groups) = groups(&[("proc/self/cgroup", "0::/one\n")]);
        assert!(control_groups.are_current(root.path()));
        fs::write(root.path().join("proc/self/cgroup"), "0::/two\n").unwrap();
        assert!(!control_groups.are_current(root.path()));
    }
}
