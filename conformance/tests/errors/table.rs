//! The form of the tables: calls with one thing wrong, written without what all calls of a form have in common.
//!
//! A table is a list of functions, each with its form, arguments that are right, and rows of arguments that are not. The
//! right call must succeed, so that what is wrong in a row is what the row says. What holds of all functions of a form is
//! not written in the tables: bad queues and wait lists of commands, bad names and sizes of queries.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::World;

/// A call and its answer.
pub struct Row {
    pub function: &'static str,
    pub wrong: &'static str,
    pub code: cl_int,
    pub call: fn(&World) -> cl_int,
}

pub const NONE: *const cl_event = ptr::null();
pub const NO_EVENT: *mut cl_event = ptr::null_mut();

/// The code of a function that returns an object or an address; without one there is none.
pub fn created<T>(call: impl FnOnce(*mut cl_int) -> *mut T) -> cl_int {
    let mut code = 1;
    let object = call(&mut code);
    assert_eq!(object.is_null(), code != CL_SUCCESS, "an object with an error, or none without: {code}");
    code
}

/// The address of a value.
pub fn at<T>(value: &T) -> *mut c_void {
    ptr::from_ref(value).cast_mut().cast()
}

/// The rows of a table.
macro_rules! rows {
    (|$w:ident| $($table:ident.$function:ident: $form:ident $right:tt { $($code:ident $wrong:literal: $args:tt;)* })*) => {
        pub fn rows() -> Vec<Row> {
            let mut rows = Vec::new();
            $(
                form!($form rows $w $table $function $right);
                $(row!(rows $function $code $wrong |$w| call!($form $w $table $function $args));)*
            )*
            rows
        }
    };
}

macro_rules! row {
    ($rows:ident $function:ident $code:ident $wrong:literal $call:expr) => {
        $rows.push(Row { function: stringify!($function), wrong: $wrong, code: $code, call: $call })
    };
}

/// A call with nothing wrong but its arguments.
macro_rules! call {
    // A function that returns a code.
    (code $w:ident $table:ident $function:ident ($($a:expr),*)) => { ($w.$table.$function)($($a),*) };
    // A function that returns an object, and a code where its last argument says.
    (new $w:ident $table:ident $function:ident ($($a:expr),*)) => { created(|code| ($w.$table.$function)($($a,)* code)) };
    (never $($rest:tt)*) => { call!(code $($rest)*) };
    (never_new $($rest:tt)*) => { call!(new $($rest)*) };
    // A query: what of, and what.
    (info $w:ident $table:ident $function:ident ($($a:expr),* => $name:expr)) => {
        ($w.$table.$function)($($a,)* $name, 0, ptr::null_mut(), &mut 0)
    };
    // A command that recording adds to a command buffer; launches may be changed later.
    (record $w:ident $table:ident $function:ident ($($a:expr),*)) => {
        recording!($w $table $function ($w.recording, ptr::null_mut(), ptr::null()) ($($a),*) (0, ptr::null(), ptr::null_mut()))
    };
    (launch $($rest:tt)*) => { call!(record $($rest)*) };
    // A command whose function returns an address.
    (map $w:ident $table:ident $function:ident $args:tt) => { mapping!($w $table $function ($w.queue) $args (0, NONE)) };
    // A command; one on objects of a context; one that may be waited for.
    ($command:ident $w:ident $table:ident $function:ident $args:tt) => {
        command!($w $table $function ($w.queue) $args (0, NONE))
    };
}

/// An enqueue with all there is to it.
macro_rules! command {
    ($w:ident $table:ident $function:ident ($queue:expr) ($($a:expr),*) ($count:expr, $list:expr)) => {
        ($w.$table.$function)($queue, $($a,)* $count, $list, NO_EVENT)
    };
}

/// The same of a function that returns an address.
macro_rules! mapping {
    ($w:ident $table:ident $function:ident ($queue:expr) ($($a:expr),*) ($count:expr, $list:expr)) => {
        created(|code| ($w.$table.$function)($queue, $($a,)* $count, $list, NO_EVENT, code))
    };
}

/// The recording of a command with all there is to it.
macro_rules! recording {
    ($w:ident $table:ident $function:ident ($buffer:expr, $queue:expr, $list:expr) ($($a:expr),*)
     ($count:expr, $points:expr, $handle:expr)) => {
        ($w.$table.$function)($buffer, $queue, $list, $($a,)* $count, $points, ptr::null_mut(), $handle)
    };
}

/// The rows that all functions of a form have.
macro_rules! form {
    // No arguments are right.
    (never $($rest:tt)*) => {};
    (never_new $($rest:tt)*) => {};
    (info $rows:ident $w:ident $table:ident $function:ident ($($a:expr),* => $name:expr)) => {
        row!($rows $function CL_SUCCESS "nothing" |$w| call!(info $w $table $function ($($a),* => $name)));
        row!($rows $function CL_INVALID_VALUE "an unknown name" |$w| call!(info $w $table $function ($($a),* => 0x7FFF)));
        row!($rows $function CL_INVALID_VALUE "no room for the answer" |$w| {
            ($w.$table.$function)($($a,)* $name, 0, at(&[0_u8; 8]), ptr::null_mut())
        });
    };
    (record $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(launch $rows $w $table $function $right);
        row!($rows $function CL_INVALID_VALUE "a handle of what cannot be changed" |$w| {
            recording!($w $table $function ($w.recording, ptr::null_mut(), ptr::null()) $right (0, ptr::null(), &mut ptr::null_mut()))
        });
    };
    (launch $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        row!($rows $function CL_SUCCESS "nothing" |$w| call!(record $w $table $function $right));
        row!($rows $function CL_INVALID_COMMAND_BUFFER_KHR "no command buffer" |$w| {
            recording!($w $table $function (ptr::null_mut(), ptr::null_mut(), ptr::null()) $right (0, ptr::null(), ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_OPERATION "a finalized command buffer" |$w| {
            recording!($w $table $function ($w.finalized, ptr::null_mut(), ptr::null()) $right (0, ptr::null(), ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_COMMAND_QUEUE "a queue" |$w| {
            recording!($w $table $function ($w.recording, $w.queue, ptr::null()) $right (0, ptr::null(), ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_VALUE "an unknown property" |$w| {
            recording!($w $table $function ($w.recording, ptr::null_mut(), [0x7FFF, 1, 0].as_ptr()) $right (0, ptr::null(), ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_SYNC_POINT_WAIT_LIST_KHR "a count without sync points" |$w| {
            recording!($w $table $function ($w.recording, ptr::null_mut(), ptr::null()) $right (1, ptr::null(), ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_SYNC_POINT_WAIT_LIST_KHR "sync points without a count" |$w| {
            recording!($w $table $function ($w.recording, ptr::null_mut(), ptr::null()) $right (0, &0, ptr::null_mut()))
        });
        row!($rows $function CL_INVALID_SYNC_POINT_WAIT_LIST_KHR "an unknown sync point" |$w| {
            recording!($w $table $function ($w.recording, ptr::null_mut(), ptr::null()) $right (1, &0x7FFF, ptr::null_mut()))
        });
    };
    (command $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(queue command $rows $w $table $function $right);
        row!($rows $function CL_INVALID_CONTEXT "a queue of another context" |$w| {
            command!($w $table $function ($w.other.queue) $right (0, NONE))
        });
    };
    (bare $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(queue command $rows $w $table $function $right);
    };
    (blocking $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(command $rows $w $table $function $right);
        form!(failed command $rows $w $table $function $right);
    };
    (bare_blocking $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(bare $rows $w $table $function $right);
        form!(failed command $rows $w $table $function $right);
    };
    (map $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        form!(queue mapping $rows $w $table $function $right);
        form!(failed mapping $rows $w $table $function $right);
        row!($rows $function CL_INVALID_CONTEXT "a queue of another context" |$w| {
            mapping!($w $table $function ($w.other.queue) $right (0, NONE))
        });
    };
    (queue $how:ident $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        row!($rows $function CL_SUCCESS "nothing" |$w| $how!($w $table $function ($w.queue) $right (0, NONE)));
        row!($rows $function CL_INVALID_COMMAND_QUEUE "no queue" |$w| {
            $how!($w $table $function (ptr::null_mut()) $right (0, NONE))
        });
        row!($rows $function CL_INVALID_EVENT_WAIT_LIST "a count without events" |$w| {
            $how!($w $table $function ($w.queue) $right (1, NONE))
        });
        row!($rows $function CL_INVALID_EVENT_WAIT_LIST "events without a count" |$w| {
            $how!($w $table $function ($w.queue) $right (0, &$w.event))
        });
        row!($rows $function CL_INVALID_EVENT_WAIT_LIST "a wait for no event" |$w| {
            $how!($w $table $function ($w.queue) $right (2, [$w.event, ptr::null_mut()].as_ptr()))
        });
        row!($rows $function CL_INVALID_CONTEXT "an event of another context" |$w| {
            $how!($w $table $function ($w.queue) $right (2, [$w.event, $w.other.event].as_ptr()))
        });
    };
    (failed $how:ident $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        row!($rows $function CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "a failed event" |$w| {
            $how!($w $table $function ($w.queue) $right (1, &$w.failed))
        });
    };
    // A link that begins and fails leaves a program.
    (failing $rows:ident $w:ident $table:ident $function:ident ($($a:expr),*)) => {
        row!($rows $function CL_LINK_PROGRAM_FAILURE "a function that is nowhere" |$w| {
            let mut code = 1;
            assert!(!($w.$table.$function)($($a,)* &mut code).is_null());
            code
        });
    };
    ($form:ident $rows:ident $w:ident $table:ident $function:ident $right:tt) => {
        row!($rows $function CL_SUCCESS "nothing" |$w| call!($form $w $table $function $right));
    };
}
