//! What the log says of the variants of kernels.

use std::fmt;
use std::time::Instant;

use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::item_form::ItemForm;
use lockstep_protocol::program_metadata::KernelOutline;
use tracing::{Level, info, warn};

use super::form_comparison::Verdict;
use super::form_trials::EndedTrial;
use super::loaded_variant::{LoadedVariant, VariantCode};
use crate::clock::milliseconds_since;
use crate::launch::facts_text::describe_facts;

/// Where code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It came with the program, or was made for the program's binary.
    Binary,
    /// It was kept.
    Cache,
    /// It is new.
    Compiler,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Origin::Binary => "from the program's binary",
            Origin::Cache => "from the cache",
            Origin::Compiler => "compiled",
        })
    }
}

/// Logs that a kernel has got a variant: of which tier, how its work-items run, for which launches, from where, and how long that took.
pub(super) fn log_variant(
    kernel: &KernelOutline,
    variant: &LoadedVariant,
    code: &VariantCode,
    origin: Origin,
    begun: Instant,
) {
    // Phrases are made for nothing else.
    if tracing::enabled!(target: "variant", Level::INFO) {
        let (name, number, milliseconds) = (&kernel.name, variant.log_number(), milliseconds_since(begun));
        let (tier, form) = (name_tier(code.tier), code.object.form);
        let facts = describe_facts(&code.facts, kernel).join(", ");
        info!(
            target: "variant",
            "{number} of kernel {name}: {tier}, {form}, {origin} in {milliseconds:.1} ms, for {facts}"
        );
    }
}

/// Logs that a variant has got code of the last tier, or why not.
pub(super) fn log_promotion(
    kernel: &KernelOutline,
    variant: &LoadedVariant,
    ended: Result<Origin, String>,
    begun: Instant,
) {
    let (name, number, milliseconds) = (&kernel.name, variant.log_number(), milliseconds_since(begun));
    match ended {
        Ok(origin) => {
            info!(target: "variant", "{number} of kernel {name}: now last tier, {origin} in {milliseconds:.1} ms");
        }
        Err(reason) => warn!(target: "variant", "{number} of kernel {name}: stays in its first tier: {reason}"),
    }
}

/// Logs that launches of a variant measure another form of its code, or why not.
pub(super) fn log_trial_code(
    kernel: &KernelOutline,
    variant: &LoadedVariant,
    form: ItemForm,
    begun_trial: Result<Origin, String>,
    begun: Instant,
) {
    let (name, number, milliseconds) = (&kernel.name, variant.log_number(), milliseconds_since(begun));
    match begun_trial {
        Ok(origin) => {
            info!(target: "variant", "{number} of kernel {name}: tries {form}, {origin} in {milliseconds:.1} ms");
        }
        Err(reason) => info!(target: "variant", "{number} of kernel {name}: does not try {form}: {reason}"),
    }
}

/// Logs what measuring another form of a variant's code came to.
pub(super) fn log_ended_trial(kernel: &KernelOutline, variant: &LoadedVariant, ended_trial: &EndedTrial) {
    let EndedTrial { champion, challenger, verdict } = ended_trial;
    let (name, number) = (&kernel.name, variant.log_number());
    match verdict {
        Some(Verdict { is_faster, time_ratio }) => {
            let winner = if *is_faster { challenger } else { champion };
            info!(
                target: "variant",
                "{number} of kernel {name}: as {challenger} it takes {time_ratio:.2} of the time as {champion}; it runs as {winner}"
            );
        }
        None => info!(
            target: "variant",
            "{number} of kernel {name}: launches have no scratch memory for {challenger}; it runs as {champion}"
        ),
    }
}

/// Logs which form of a variant's code was found to be the best.
pub(super) fn log_settled_form(kernel: &KernelOutline, variant: &LoadedVariant, form: ItemForm) {
    let (name, number) = (&kernel.name, variant.log_number());
    info!(target: "variant", "{number} of kernel {name}: its best form is {form}");
}

/// The name of a tier in the log.
pub(crate) fn name_tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Baseline => "first tier",
        Tier::Optimized => "last tier",
    }
}
