//! Which forms of a kernel's code are measured, one after the other: a climb from the form that the estimate took. Twice and half as
//! many lanes are tried first, after loops in loops that may become one, and again from where that gains; then another layout, work-items one by one, and what is left of widths:
//! some kernels are fast with 4 lanes and with 16 and slow with 8.

use lockstep_protocol::configuration::WIDTHS;
use lockstep_protocol::item_form::{Alternatives, ItemForm};
use lockstep_protocol::layout::{GangShape, Layout};

/// As many forms are measured beside the first one.
pub const MOST_TRIALS: usize = 7;
/// Gangs of fewer lanes than a register has are tried from here on.
const LEAST_WIDTH: u32 = 4;

/// What was measured, and what came of it.
#[derive(Debug)]
pub struct FormSearch {
    alternatives: Alternatives,
    best: ItemForm,
    /// All that need not be made: the form that ran first, and then those that were tried.
    known: Vec<ItemForm>,
}

impl FormSearch {
    /// Nothing measured yet. `taken` is the form that runs.
    pub fn new(taken: ItemForm, alternatives: Alternatives) -> FormSearch {
        FormSearch { alternatives, best: taken, known: vec![taken] }
    }

    /// The form that ran first.
    pub fn taken_form(&self) -> ItemForm {
        self.known[0]
    }

    /// What the estimate took and left.
    pub fn alternatives(&self) -> Alternatives {
        self.alternatives
    }

    /// The fastest form so far.
    pub fn best_form(&self) -> ItemForm {
        self.best
    }

    /// How many forms were measured, or could not be had.
    pub fn trial_count(&self) -> usize {
        self.known.len() - 1
    }

    /// The form to be measured next beside the best one; none where that is found.
    pub fn next_form(&self) -> Option<ItemForm> {
        let Alternatives { gangs, other_layout, may_flatten } = self.alternatives;
        let (near_shapes, layout) = match self.best {
            ItemForm::OneByOne => ([Some(gangs), gangs.double_width(), other_layout], gangs.layout),
            ItemForm::InGangs(shape) | ItemForm::Flattened(shape) => {
                ([shape.double_width(), shape.halve_width(), other_layout], shape.layout)
            }
        };
        let flattened = match self.best {
            ItemForm::InGangs(shape) if may_flatten => Some(ItemForm::Flattened(shape)),
            _ => None,
        };
        let of_gangs = match self.best {
            ItemForm::Flattened(_) => ItemForm::Flattened,
            ItemForm::OneByOne | ItemForm::InGangs(_) => ItemForm::InGangs,
        };
        // The rows of tiles decide how wide they are.
        let layout = if layout == Layout::Tile { Layout::X } else { layout };
        let widths = WIDTHS.into_iter().filter(|&width| width >= LEAST_WIDTH);
        let near_forms = near_shapes.into_iter().flatten().map(of_gangs);
        let far_forms = widths.map(|width| of_gangs(GangShape { width, layout }));
        let is_open = |form: &ItemForm| self.trial_count() < MOST_TRIALS && !self.known.contains(form);
        flattened.into_iter().chain(near_forms).chain([ItemForm::OneByOne]).chain(far_forms).find(is_open)
    }

    /// Notes what measuring a form beside the best one came to. One that cannot be had is not faster.
    pub fn note_result(&mut self, form: ItemForm, is_faster: bool) {
        self.known.push(form);
        if is_faster {
            self.best = form;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gangs(width: u32) -> ItemForm {
        ItemForm::InGangs(GangShape { width, layout: Layout::X })
    }

    fn along_x(width: u32) -> Alternatives {
        Alternatives { gangs: GangShape { width, layout: Layout::X }, other_layout: None, may_flatten: false }
    }

    /// The forms that are measured, in order, where `speed` is how fast each is, and the one that is left.
    fn search(
        taken: ItemForm,
        alternatives: Alternatives,
        speed: impl Fn(ItemForm) -> u32,
    ) -> (Vec<ItemForm>, ItemForm) {
        let mut form_search = FormSearch::new(taken, alternatives);
        let mut measured = Vec::new();
        while let Some(form) = form_search.next_form() {
            measured.push(form);
            form_search.note_result(form, speed(form) > speed(form_search.best_form()));
        }
        (measured, form_search.best_form())
    }

    fn lanes(form: ItemForm) -> u32 {
        match form {
            ItemForm::OneByOne => 1,
            ItemForm::InGangs(shape) | ItemForm::Flattened(shape) => shape.width,
        }
    }

    #[test]
    fn a_climb_goes_on_where_it_gains() {
        let (measured, best) = search(gangs(32), along_x(32), |form| 64 - lanes(form).abs_diff(4));
        assert_eq!(measured, [gangs(64), gangs(16), gangs(8), gangs(4), gangs(2), ItemForm::OneByOne]);
        assert_eq!(best, gangs(4));
        let (measured, best) = search(ItemForm::OneByOne, along_x(16), lanes);
        assert_eq!(measured, [gangs(16), gangs(32), gangs(64), gangs(4), gangs(8)]);
        assert_eq!(best, gangs(64));
    }

    #[test]
    fn what_lies_behind_slower_forms_is_tried_last() {
        let (measured, best) = search(gangs(16), along_x(16), |form| u32::from(form == gangs(16)));
        assert_eq!(measured, [gangs(32), gangs(8), ItemForm::OneByOne, gangs(4), gangs(64)]);
        assert_eq!(best, gangs(16));
        let (_, best) =
            search(gangs(32), along_x(32), |form| u32::from(form == gangs(32)) + 2 * u32::from(form == gangs(4)));
        assert_eq!(best, gangs(4));
    }

    #[test]
    fn another_layout_is_tried_and_climbed_from() {
        let along_y = |width| GangShape { width, layout: Layout::Y };
        let alternatives = Alternatives { other_layout: Some(along_y(16)), ..along_x(16) };
        let speed = |form| match form {
            ItemForm::InGangs(shape) if shape.layout == Layout::Y => 100 + shape.width,
            _ => 0,
        };
        let (measured, best) = search(gangs(16), alternatives, speed);
        assert_eq!(best, ItemForm::InGangs(along_y(64)));
        assert_eq!(measured[2..5], [16, 32, 64].map(|width| ItemForm::InGangs(along_y(width))));
    }

    #[test]
    fn flattened_loops_are_tried_first_and_in_all_widths_if_they_gain() {
        let flattened = |width| ItemForm::Flattened(GangShape { width, layout: Layout::X });
        let alternatives = Alternatives { may_flatten: true, ..along_x(32) };
        let is_flattened = |form| u32::from(matches!(form, ItemForm::Flattened(_)));
        let (measured, best) = search(gangs(32), alternatives, |form| 1000 * is_flattened(form) + 100 - lanes(form));
        assert_eq!(measured[..4], [32, 64, 16, 8].map(flattened));
        assert_eq!(best, flattened(2));
        let (measured, best) = search(gangs(32), alternatives, |form| 1 - is_flattened(form) + lanes(form) / 64);
        assert_eq!(measured[..2], [flattened(32), gangs(64)]);
        assert_eq!(best, gangs(64));
    }

    #[test]
    fn there_is_an_end() {
        let alternatives =
            Alternatives { other_layout: Some(GangShape { width: 32, layout: Layout::Y }), ..along_x(32) };
        let (measured, _) = search(gangs(32), alternatives, |form| 64 - lanes(form));
        assert_eq!(measured.len(), MOST_TRIALS);
        let mut without_code = FormSearch::new(gangs(32), alternatives);
        while let Some(form) = without_code.next_form() {
            without_code.note_result(form, false);
        }
        assert_eq!(without_code.best_form(), gangs(32));
    }
}
