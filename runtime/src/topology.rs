//! Which processors of the machine share caches and memory, as the system says.

use std::collections::BTreeSet;

/// A part of the memory system that several processors may share, the outermost first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Domain {
    /// The memory of a NUMA node.
    Numa,
    /// A cache of this level, 4 to 1.
    Cache(u32),
}

impl Domain {
    /// All of them, in the order in which a device is to be divided.
    pub const ALL: [Domain; 5] = [Domain::Numa, Domain::Cache(4), Domain::Cache(3), Domain::Cache(2), Domain::Cache(1)];
}

/// Divides processors into those that share a domain, in the order of the first of each. Processors of which the system
/// says nothing are no part of the answer.
pub fn group_by_domain(domain: Domain, processors: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    groups_from(&|path| std::fs::read_to_string(path).ok(), domain, processors)
}

fn groups_from(
    read_file: &dyn Fn(&str) -> Option<String>,
    domain: Domain,
    processors: &BTreeSet<usize>,
) -> Vec<BTreeSet<usize>> {
    let cpu_lists: Vec<BTreeSet<usize>> = match domain {
        Domain::Numa => {
            let node_numbers =
                read_file("/sys/devices/system/node/online").map(|text| parse_list(&text)).unwrap_or_default();
            node_numbers
                .iter()
                .filter_map(|node_index| {
                    Some(parse_list(&read_file(&format!("/sys/devices/system/node/node{node_index}/cpulist"))?))
                })
                .collect()
        }
        Domain::Cache(cache_level) => {
            processors.iter().filter_map(|&processor| sharers_of_cache(read_file, processor, cache_level)).collect()
        }
    };
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for shared in cpu_lists {
        let group: BTreeSet<usize> = shared.intersection(processors).copied().collect();
        if !group.is_empty() && groups.iter().all(|earlier_group| earlier_group.is_disjoint(&group)) {
            groups.push(group);
        }
    }
    groups.sort_by_key(|group| group.first().copied());
    groups
}

/// The processors that share a processor's data cache of this level.
fn sharers_of_cache(
    read_file: &dyn Fn(&str) -> Option<String>,
    processor: usize,
    cache_level: u32,
) -> Option<BTreeSet<usize>> {
    (0..8).find_map(|index| {
        let read_cache_file =
            |name: &str| read_file(&format!("/sys/devices/system/cpu/cpu{processor}/cache/index{index}/{name}"));
        let is_wanted_cache = read_cache_file("level")?.trim().parse() == Ok(cache_level)
            && read_cache_file("type")?.trim() != "Instruction";
        is_wanted_cache.then(|| read_cache_file("shared_cpu_list").map(|text| parse_list(&text)))?
    })
}

/// The numbers of a list such as `0-3,8,10-11`.
fn parse_list(text: &str) -> BTreeSet<usize> {
    let parse_range = |list_part: &str| {
        let (first, last) = list_part.split_once('-').unwrap_or((list_part, list_part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.split(',').filter_map(parse_range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of four processors; two processors share a level 2 cache.
    fn read(path: &str) -> Option<String> {
        let cache = |path: &str| {
            let (cpu, file) = path.strip_prefix("/sys/devices/system/cpu/cpu")?.split_once("/cache/index")?;
            let processor: usize = cpu.parse().ok()?;
            Some(match file {
                "0/level" | "1/level" => "1\n".to_owned(),
                "2/level" => "2\n".to_owned(),
                "0/type" => "Instruction\n".to_owned(),
                "1/type" => "Data\n".to_owned(),
                "2/type" => "Unified\n".to_owned(),
                "0/shared_cpu_list" => "0-7\n".to_owned(),
                "1/shared_cpu_list" => format!("{processor}\n"),
                "2/shared_cpu_list" => format!("{},{}\n", processor & !1, processor | 1),
                _ => return None,
            })
        };
        match path {
            "/sys/devices/system/node/online" => Some("0-1\n".to_owned()),
            "/sys/devices/system/node/node0/cpulist" => Some("0-3\n".to_owned()),
            "/sys/devices/system/node/node1/cpulist" => Some("4-7\n".to_owned()),
            path => cache(path),
        }
    }

    fn divided(domain: Domain, processors: &[usize]) -> Vec<Vec<usize>> {
        let groups = groups_from(&read, domain, &processors.iter().copied().collect());
        groups.into_iter().map(|group| group.into_iter().collect()).collect()
    }

    #[test]
    fn processors_are_divided_by_what_they_share() {
        let all = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(divided(Domain::Numa, &all), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(divided(Domain::Cache(2), &all), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        assert_eq!(divided(Domain::Cache(1), &[3, 4]), [[3], [4]]);
        assert_eq!(divided(Domain::Cache(3), &all), [[0; 0]; 0]);
        // Only what the process may use.
        assert_eq!(divided(Domain::Numa, &[1, 2, 6]), [vec![1, 2], vec![6]]);
        assert_eq!(divided(Domain::Cache(2), &[1, 2]), [[1], [2]]);
    }

    #[test]
    fn lists_are_read_as_the_system_writes_them() {
        assert_eq!(parse_list("0-2,5,7-8\n"), BTreeSet::from([0, 1, 2, 5, 7, 8]));
        assert_eq!(parse_list("\n"), BTreeSet::new());
    }
}
