//! Better code of variants that launches have, made in the background: the last tier of code of the first one, then other forms of it that
//! are measured ([`form_trials`](super::form_trials)). Launches go on with what they have meanwhile.

use std::sync::Arc;
use std::time::Instant;

use lockstep_protocol::compile_options::{CompileOptions, Tier};
use lockstep_protocol::item_form::ItemForm;
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::loop_profile::LoopProfile;
use tracing::warn;

use super::executable::{ChosenBy, Executable};
use super::form_trials::{EndedTrial, FormTrials};
use super::loaded_variant::LoadedVariant;
use super::variant_log::{Origin, log_ended_trial, log_promotion, log_settled_form, log_trial_code};
use crate::compiler_process;
use crate::executor::{self, Service};

impl Executable {
    /// Has the last tier of a variant's code, or another form of it, made in the background if it is time for that.
    pub fn improve_if_due(self: &Arc<Self>, variant: &Arc<LoadedVariant>) {
        if let Some(promotion) = variant.begin_promotion() {
            let loops = promotion.loop_profile();
            self.improve_later(variant, move |executable, variant| executable.promote_variant(loops, variant));
        } else if let Some(form) = variant.form_trials().and_then(FormTrials::begin_if_due) {
            self.improve_later(variant, move |executable, variant| executable.try_form(form, variant));
        }
    }

    /// Has another thread make better code of a variant.
    fn improve_later(
        self: &Arc<Self>,
        variant: &Arc<LoadedVariant>,
        improve: impl FnOnce(&Executable, &LoadedVariant) + Send + 'static,
    ) {
        let (executable, variant) = (self.clone(), variant.clone());
        let job = Box::new(move || improve(&executable, &variant));
        if executor::try_spawn(Service::Promotion, job).is_err() {
            warn!(target: "variant", "there is no thread to make better code");
        }
    }

    /// Has a variant run code of the last tier. If that fails, it goes on as it is.
    fn promote_variant(&self, loops: LoopProfile, variant: &LoadedVariant) {
        let begun = Instant::now();
        let settings = CompileOptions { loops, ..self.compile_settings(&variant.facts, Tier::Optimized) };
        let ended = self.adopt_last_tier(variant.kernel_index, settings, variant);
        log_promotion(self.kernel_outline(variant.kernel_index), variant, ended, begun);
    }

    /// Has launches of a variant measure code of another form. If there is none, the next form comes.
    fn try_form(&self, form: ItemForm, variant: &LoadedVariant) {
        let Some(trials) = variant.form_trials() else { return };
        let begun = Instant::now();
        let (kernel_index, settings) = (variant.kernel_index, self.compile_settings(&variant.facts, Tier::Optimized));
        let (vectorize, loops) = (form.as_request(settings.vectorize), variant.loop_profile());
        let settings = CompileOptions { vectorize, loops, ..settings };
        let found = self.find_or_recompile(kernel_index, settings);
        let begun_trial = found.and_then(|(object, origin)| {
            let has_begun = trials.begin_comparison(&object, variant.needs().local_bytes, begun.elapsed());
            let has_begun = has_begun.map_err(|error| format!("its code cannot run: {error}"))?;
            if has_begun { Ok(origin) } else { Err("its code is of another form".to_owned()) }
        });
        if begun_trial.is_err() {
            trials.give_up_form(form);
        }
        log_trial_code(self.kernel_outline(kernel_index), variant, form, begun_trial, begun);
        self.keep_settled_form(variant);
    }

    /// Tells what came of a trial.
    pub fn end_trial(self: &Arc<Self>, variant: &Arc<LoadedVariant>, ended_trial: &EndedTrial) {
        log_ended_trial(self.kernel_outline(variant.kernel_index), variant, ended_trial);
        if variant.form_trials().is_some_and(|trials| trials.settled_form().is_some()) {
            self.improve_later(variant, Executable::keep_settled_form);
        }
    }

    /// When the search for the best form of a variant's code is over, leaves code of that form in the cache: later processes begin
    /// with it.
    fn keep_settled_form(&self, variant: &LoadedVariant) {
        let Some(trials) = variant.form_trials() else { return };
        let Some(form) = trials.settled_form() else { return };
        let (taken_form, alternatives) = trials.estimated_forms();
        if form != taken_form {
            let settings = self.compile_settings(&variant.facts, Tier::Optimized);
            let form_settings = CompileOptions { vectorize: form.as_request(settings.vectorize), ..settings.clone() };
            if let Some(object) = self.find_kept(variant.kernel_index, &form_settings, ChosenBy::Estimate) {
                let object = KernelObject { alternatives: Some(alternatives), ..object };
                self.keep_object(variant.kernel_index, &settings, ChosenBy::Trials, &object);
            }
        }
        log_settled_form(self.kernel_outline(variant.kernel_index), variant, form);
    }

    /// Has a variant run code that is made so from now on. Where the code comes from.
    ///
    /// # Errors
    /// In words: why the variant goes on as it is.
    fn adopt_last_tier(
        &self,
        kernel_index: usize,
        settings: CompileOptions,
        variant: &LoadedVariant,
    ) -> Result<Origin, String> {
        let (object, origin) = self.find_or_recompile(kernel_index, settings)?;
        match variant.adopt_code(&object) {
            Ok(true) => Ok(origin),
            Ok(false) => Err("its new code needs other scratch memory".to_owned()),
            Err(error) => Err(format!("its new code cannot run: {error}")),
        }
    }

    /// Code of the last tier that is in the cache, or else is compiled now.
    ///
    /// # Errors
    /// In words: why there is none.
    fn find_or_recompile(
        &self,
        kernel_index: usize,
        settings: CompileOptions,
    ) -> Result<(KernelObject, Origin), String> {
        if let Some(object) = self.find_kept(kernel_index, &settings, ChosenBy::Estimate) {
            return Ok((object, Origin::Cache));
        }
        let kernel_job = self.kernel_job(kernel_index, settings.clone());
        let built = compiler_process::recompile_kernel(kernel_job).map_err(|failure| failure.to_string())?;
        if let Some(mistake) = built.mistake {
            return Err(mistake);
        }
        self.keep_object(kernel_index, &settings, ChosenBy::Estimate, &built.object);
        Ok((built.object, Origin::Compiler))
    }
}
