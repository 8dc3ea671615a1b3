//! The work-group and the work-item that code runs for, as values of the code.

use super::emit::Emitter;
use inkwell::values::{BasicValueEnum, IntValue};

/// One number per dimension.
pub type Triple<'ctx> = [IntValue<'ctx>; 3];

/// The work-group that runs.
pub struct Group<'ctx> {
    /// What `get_group_id` gives, by dimension.
    pub id: Triple<'ctx>,
    /// get_local_size of this group.
    pub size: Triple<'ctx>,
    /// get_global_id of the group's first work-item.
    pub first: Triple<'ctx>,
    /// What the reduction gave that the region begins with.
    pub combined: Option<BasicValueEnum<'ctx>>,
}

impl<'ctx> Group<'ctx> {
    /// The group of code that asks for none.
    pub fn without_place(emitter: &Emitter<'ctx, '_>) -> Group<'ctx> {
        let nowhere = [emitter.const64(0); 3];
        Group { id: nowhere, size: nowhere, first: nowhere, combined: None }
    }
}

/// The work-item that runs.
pub struct Item<'ctx> {
    /// What `get_local_id` gives, by dimension.
    pub local: Triple<'ctx>,
    /// What `get_global_id` gives, by dimension.
    pub global: Triple<'ctx>,
    /// Its place among the group's, as their loops have them: where it keeps values. In layouts that keep their order, the
    /// linear id.
    pub number: IntValue<'ctx>,
}

impl<'ctx> Item<'ctx> {
    /// The work-item of code that asks for none.
    pub fn without_place(emitter: &Emitter<'ctx, '_>) -> Item<'ctx> {
        let nowhere = [emitter.const64(0); 3];
        Item { local: nowhere, global: nowhere, number: emitter.const64(0) }
    }
}
