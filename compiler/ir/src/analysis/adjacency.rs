//! Lists of what stands beside each of many things, all in one piece of memory.
//!
//! Requires: things that are numbers below a count.
//! Ensures: a thing's list in constant time, in the order in which its items were given.
//! Phases: how long each list is; where each begins; the items.
//! Source: textbook (compressed sparse rows).

/// A list of items for each of the numbers below a count.
#[derive(Clone, Debug)]
pub(crate) struct AdjacencyLists<T> {
    /// Where a number's list begins; it ends where the next one's begins.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> AdjacencyLists<T> {
    /// The items of pairs by their numbers, which are less than `count`, in the order of the pairs.
    pub fn from_pairs(count: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> AdjacencyLists<T> {
        let mut starts = vec![0; count + 2];
        for (of, _) in pairs.clone() {
            starts[of + 2] += 1;
        }
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        // Any item will do until its own is known.
        let mut items: Vec<T> = pairs.clone().map(|(_, item)| item).collect();
        // Of each list, `starts[index + 1]` is the place of the next item now.
        for (of, item) in pairs {
            let start = &mut starts[of + 1];
            items[*start as usize] = item;
            *start += 1;
        }
        starts.pop();
        AdjacencyLists { starts, items }
    }

    /// The items of a number; none of one that has no list.
    pub fn items_of(&self, number: usize) -> &[T] {
        match self.starts.get(number..number + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }

    /// How many lists there are.
    pub fn list_count(&self) -> usize {
        self.starts.len() - 1
    }
}
