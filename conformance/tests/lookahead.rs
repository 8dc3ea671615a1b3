//! Code of kernels that are likely to be launched next, made before they are. For this driver only.

use std::collections::BTreeSet;
use std::time::Duration;

use lockstep_conformance::child::in_child;
use lockstep_conformance::{Kernel, Setup, is_lockstep, read, run};

const ITEMS: usize = 64;

/// Kernels of which each stores a number of its own; the last ones may be launched in groups of eight alone, or read an image.
const STORES: &str =
    "#define STORE(n) kernel void store_##n(global int *a) { a[get_global_id(0)] = n; barrier(CLK_LOCAL_MEM_FENCE); }
STORE(1) STORE(2) STORE(3)
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void store_4(global int *a)
{ a[get_global_id(0)] = 4; barrier(CLK_LOCAL_MEM_FENCE); }
kernel void store_5(global int *a, read_only image2d_t image) { a[get_global_id(0)] = 5 + get_image_width(image); }";

/// Launches a kernel in groups of so many work-items, waits for it, and long enough for what is made behind it.
fn launch(setup: &Setup, kernel: &Kernel, group: usize, number: i32) {
    let buffer = setup.context.zeros::<i32>(ITEMS);
    kernel.set(0, &buffer);
    eprintln!("launch of {number}");
    run(&setup.queue, kernel, &[ITEMS], &[group]);
    assert_eq!(read::<i32>(&setup.queue, &buffer), [number; ITEMS]);
    std::thread::sleep(Duration::from_millis(500));
}

/// The numbers of the kernels whose code was made, in ascending order: before the first launch, and after each.
fn codes_between_launches(text: &str) -> Vec<Vec<i32>> {
    let number_of = |line: &str| line.strip_prefix("store_")?.strip_suffix("ms")?.split_once(": emit")?.0.parse().ok();
    let list_numbers = |part: &str| part.lines().filter_map(number_of).collect::<BTreeSet<i32>>().into_iter().collect();
    text.split("launch of").map(list_numbers).collect()
}

/// Whether one processor makes code while another one runs work-groups.
fn has_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|count| count.get() > 1)
}

/// Runs `body` in a child of a test, without a cache, with kernel objects of these numbers; which kernels' code was made between launches.
#[track_caller]
fn list_codes<const COUNT: usize>(
    test: &str,
    switches: &[(&str, &str)],
    numbers: [i32; COUNT],
    body: impl FnOnce(&Setup, [Kernel; COUNT]),
) -> Vec<Vec<i32>> {
    let environment = [&[("LOCKSTEP_CACHE", "off"), ("LOCKSTEP_TIME", "1")], switches].concat();
    let output = in_child(test, &environment, || {
        let setup = Setup::new();
        let program = setup.context.build(STORES, "-cl-std=CL3.0");
        body(&setup, numbers.map(|number| program.kernel(&format!("store_{number}"))));
    });
    codes_between_launches(&output.stderr)
}

#[test]
fn the_next_kernel_is_made_while_the_first_one_is() {
    if !is_lockstep() || !has_processors() {
        return;
    }
    let test = "the_next_kernel_is_made_while_the_first_one_is";
    let codes = list_codes(test, &[], [1, 2, 3], |setup, [first, second, third]| {
        launch(setup, &first, 16, 1);
        launch(setup, &second, 16, 2);
        launch(setup, &third, 16, 3);
    });
    assert_eq!(codes, [vec![], vec![1, 2], vec![3], vec![]]);
}

#[test]
fn kernels_are_made_for_the_groups_that_they_require_and_not_without_their_images() {
    if !is_lockstep() || !has_processors() {
        return;
    }
    let test = "kernels_are_made_for_the_groups_that_they_require_and_not_without_their_images";
    let codes = list_codes(test, &[], [1, 4, 5], |setup, [first, of_eight, _of_image]| {
        launch(setup, &first, 16, 1);
        launch(setup, &of_eight, 8, 4);
    });
    assert_eq!(codes, [vec![], vec![1, 4], vec![]]);
}

#[test]
fn a_wrong_guess_is_the_last_one() {
    if !is_lockstep() || !has_processors() {
        return;
    }
    let codes = list_codes("a_wrong_guess_is_the_last_one", &[], [1, 2, 3], |setup, [first, second, third]| {
        launch(setup, &first, 16, 1);
        launch(setup, &second, 32, 2);
        launch(setup, &third, 32, 3);
    });
    assert_eq!(codes, [vec![], vec![1, 2], vec![2], vec![3]]);
}

#[test]
fn without_lookahead_launches_alone_have_code_made() {
    if !is_lockstep() {
        return;
    }
    let test = "without_lookahead_launches_alone_have_code_made";
    let codes = list_codes(test, &[("LOCKSTEP_LOOKAHEAD", "0")], [1, 2], |setup, [first, second]| {
        launch(setup, &first, 16, 1);
        launch(setup, &second, 16, 2);
    });
    assert_eq!(codes, [vec![], vec![1], vec![2]]);
}
