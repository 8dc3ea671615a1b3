//! Which of two gangs is the better one, and how a choice reads.

use super::*;

/// A gang of so many work-items and of this cost, whose work-items cost 10 each alone.
fn choice(gang_width: u32, gang: u64) -> WidthChoice {
    WidthChoice { scalar: 10, gang, ..WidthChoice::empty_choice(gang_width, Layout::X) }
}

#[test]
fn gangs_have_to_save_a_tenth() {
    assert!(choice(8, 71).is_profitable(), "71 of 80");
    assert!(!choice(8, 72).is_profitable(), "72 of 80 is nine tenths");
    assert!(!choice(8, 800).is_profitable());
}

#[test]
fn regions_left_to_single_work_items_pay_if_each_other_region_does() {
    let alone = WidthChoice { alone: 0b10, ..choice(8, 79) };
    assert!(alone.is_profitable());
    assert!(!WidthChoice { each_pays: false, ..alone }.is_profitable());
    assert!(alone.is_alone(Region::new(1)) && !alone.is_alone(Region::new(0)));
}

#[test]
fn regions_that_have_no_bit_never_run_alone() {
    assert_eq!(bit_of(63), 1 << 63);
    assert_eq!(bit_of(64), 0);
    assert!(!WidthChoice { alone: u64::MAX, ..choice(8, 10) }.is_alone(Region::new(64)));
}

#[test]
fn gangs_of_different_widths_compare_by_what_a_work_item_costs() {
    assert!(choice(16, 30).is_cheaper(choice(8, 16)));
    assert!(!choice(16, 32).is_cheaper(choice(8, 16)), "both cost two a work-item");
    assert!(choice(8, 160).is_enough_cheaper_than(choice(16, 353)), "20 and a little more than 22 a work-item");
    assert!(!choice(8, 160).is_enough_cheaper_than(choice(16, 352)), "a tenth exactly");
}

#[test]
fn wider_gangs_have_to_save_a_tenth_and_what_waits_counts_where_it_is_asked_for() {
    assert!(choice(8, 20).is_enough_cheaper_in(choice(16, 35), false));
    assert!(!choice(8, 20).is_enough_cheaper_in(choice(16, 36), false), "a tenth exactly");
    let waits = WidthChoice { waits: 40, ..choice(8, 20) };
    let wider = WidthChoice { waits: 40, ..choice(16, 39) };
    assert!(!waits.is_enough_cheaper_in(wider, false));
    assert!(waits.is_enough_cheaper_in(wider, true), "60 for 8, 79 for 16");
}

#[test]
fn a_choice_says_what_it_compared() {
    let other = Some(Other { layout: Layout::Y, width: 16, gang: 55 });
    let text = WidthChoice { alone: 0b101, other, ..choice(8, 40) }.to_string();
    assert_eq!(
        text,
        format!(
            "a gang of 8 {} is expected to cost 40, 8 work-items alone 80, with r0, r2 one work-item after the other, \
             a gang of 16 {} 55",
            Layout::X,
            Layout::Y
        )
    );
}
