//! The table of analyses, and what stands below it.

use std::time::{Duration, Instant};

use lockstep_ir::testing::precision::{Agreement, Analysis, KernelDivergence, describe_mistakes, false_positives};

use crate::profiles::Profiles;
use crate::subjects::{Subject, Suite};

/// How often each kernel is analysed under the clock.
const ROUNDS: usize = 9;

/// What an analysis says of all kernels, beside what was seen.
struct Row {
    /// With the cases' own inputs.
    own: Agreement,
    /// With others as well.
    all: Agreement,
    /// The time of the analyses of all kernels.
    time: Duration,
}

/// Prints what each analysis says.
pub fn print_table(suite: &Suite, profiles: &Profiles) {
    let rows = Analysis::ALL.map(|analysis| compare_analysis(suite, profiles, analysis));
    let Agreement { branches, values, .. } = rows[0].own;
    println!("{} kernels, {branches} branches, {values} values", suite.subjects.len());
    println!(
        "| analysis | true positives | false positives | of all branches | of those found | left with other inputs | of all \
         branches | of those found | false negatives | uniform values | uniform branches | time a value |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    );
    for (analysis, row) in Analysis::ALL.iter().zip(&rows) {
        println!("| {} {}", analysis.describe_analysis(), describe_row(row));
    }
    let [unifiable, fused] = [|subject: &Subject| subject.unifiable, |subject: &Subject| subject.fused]
        .map(|count| suite.subjects.iter().map(count).sum::<usize>());
    println!("{unifiable} divergent branches are unifiable, {fused} are fused");
}

fn describe_row(row: &Row) -> String {
    let Row { own, all, time } = row;
    let found = own.true_positives + own.false_positives;
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} ns |",
        own.true_positives,
        own.false_positives,
        percent(own.false_positives, own.branches),
        percent(own.false_positives, found),
        all.false_positives,
        percent(all.false_positives, own.branches),
        percent(all.false_positives, found),
        own.false_negatives,
        percent(own.uniform_values, own.values),
        percent(own.uniform_branches(), own.branches),
        time.as_nanos() / own.values.max(1) as u128,
    )
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn compare_analysis(suite: &Suite, profiles: &Profiles, analysis: Analysis) -> Row {
    let mut row = Row { own: Agreement::default(), all: Agreement::default(), time: Duration::ZERO };
    for ((subject, own), all) in suite.subjects.iter().zip(&profiles.own).zip(&profiles.all) {
        let (found, time) = time_analysis(subject, analysis);
        row.own += Agreement::of_kernel(subject.sole_kernel(), &found, own);
        row.all += Agreement::of_kernel(subject.sole_kernel(), &found, all);
        row.time += time;
    }
    row
}

/// What an analysis says of a kernel, and the median of the times that takes.
fn time_analysis(subject: &Subject, analysis: Analysis) -> (KernelDivergence, Duration) {
    let timed = || {
        let start = Instant::now();
        std::hint::black_box(analyze_subject(subject, analysis));
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| timed()).collect();
    times.sort_unstable();
    (analyze_subject(subject, analysis), times[ROUNDS / 2])
}

fn analyze_subject(subject: &Subject, analysis: Analysis) -> KernelDivergence {
    analysis.analyze_kernel(&subject.module, subject.sole_kernel(), subject.gang)
}

/// Names the branches of which the driver's analysis says that lanes may part there, and no input parted them.
pub fn list_false_positives(suite: &Suite, profiles: &Profiles) {
    for ((subject, own), all) in suite.subjects.iter().zip(&profiles.own).zip(&profiles.all) {
        let kernel = subject.sole_kernel();
        let found = analyze_subject(subject, Analysis::Shapes);
        let left = false_positives(kernel, &found, all);
        for (region, block) in false_positives(kernel, &found, own) {
            let line = kernel.regions[region].end_locs[block].line;
            let until = if left.contains(&(region, block)) { "with any input" } else { "with the case's own input" };
            println!("{}, line {line}: {block} of {region} does not part lanes {until}", kernel.name);
        }
    }
}

/// Where lanes did what the driver's own analysis says they do not, with the inputs of cases. With others work-items may write what others
/// read at the same time, and such kernels have no meaning.
pub fn find_mistakes(suite: &Suite, profiles: &Profiles) -> Vec<String> {
    let subjects = suite.subjects.iter().zip(&profiles.own);
    let mistakes = |(subject, seen): (&Subject, &KernelDivergence)| {
        let found = analyze_subject(subject, Analysis::Shapes);
        describe_mistakes(subject.sole_kernel(), &found, seen)
    };
    subjects.flat_map(mistakes).collect()
}
