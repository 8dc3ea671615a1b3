//! Which kernels take turns, and how they run then.

use crate::host_code::build;
use lockstep_compiler::pipeline::compile_kernel;
use lockstep_ir::analysis::spin_loops::may_wait;
use lockstep_ir::analysis::work_group_dependence::needs_groups;
use lockstep_ir::plan::Reason;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;

const LOCK: &str = "while (atomic_cmpxchg(p, 0, 1) != 0); a[i] += 1; atomic_xchg(p, 0);";
const ADD: &str = "float old = a[i & 7], now; do { now = old; old = as_float(atomic_cmpxchg((global int *)a + (i & 7), \
                   as_int(now), as_int(now + 1.0f))); } while (as_int(old) != as_int(now));";
const TABLE: &str = "int h = i * 7; while (1) { int old = atomic_cmpxchg(p + h, 0, i + 1); \
                     if (old == 0 || old == i + 1) break; h = (h + 1) & 255; }";
const TASKS: &str = "int task; while ((task = atomic_inc(p)) < 1000) a[task] = i;";
const FLAG: &str = "local volatile int flag; do { barrier(CLK_LOCAL_MEM_FENCE); if (i == 0) flag = 0; \
                    barrier(CLK_LOCAL_MEM_FENCE); if (a[i] > 0) { a[i] -= 1; flag = 1; } \
                    barrier(CLK_LOCAL_MEM_FENCE); } while (flag);";
const HISTOGRAM: &str = "for (int k = 0; k < 100; k++) atomic_inc(p + ((int)a[i * 100 + k] & 255));";
const NEXT: &str = "while (((volatile global int *)p)[i + 1] == 0); p[i] = 1;";
const POLL: &str = "if (sub_group_elect()) while (atomic_or(p + get_sub_group_id() + 1, 0) == 0);";

#[test]
fn those_that_may_wait_and_no_others() {
    let kernel = |body: &str, options: &str| {
        let source = format!("kernel void k(global float *a, global int *p) {{ int i = get_global_id(0); {body} }}");
        build(&source, &format!("-cl-std=CL3.0 {options}"))
    };
    for (body, options, waits, reason) in [
        (LOCK, "", true, Some(Reason::Waits)),
        (NEXT, "", true, Some(Reason::Waits)),
        // Nobody says that others than sub-groups do not wait.
        (LOCK, "-cl-no-subgroup-ifp", true, Some(Reason::Waits)),
        (POLL, "", true, None),
        (POLL, "-cl-no-subgroup-ifp", false, None),
        (ADD, "", false, None),
        (TABLE, "", false, None),
        (TASKS, "", false, None),
        (FLAG, "", false, None),
        (HISTOGRAM, "", false, None),
    ] {
        let module = kernel(body, options);
        assert_eq!(may_wait(&module.kernels[0]), waits, "{body}\n{module}");
        // A group is what runs together.
        assert!(!waits || needs_groups(&module.kernels[0]), "{body}");
        let options = CompileOptions { vectorize: Vectorize::Gangs(Gangs::of_width(8)), ..CompileOptions::default() };
        assert_eq!(compile_kernel(&module, 0, &options).unwrap().reason(), reason, "{body}");
    }
}
