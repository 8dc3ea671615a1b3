//! The device: every query of OpenCL 3.0, with the size the specification gives and a sane value.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::loader::{cl, device, is_lockstep, platform};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{expect, info, ok};

fn query(name: cl_device_info) -> impl Fn(usize, *mut c_void, *mut usize) -> cl_int {
    move |size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned)
}

fn uint(name: cl_device_info) -> u32 {
    info::value(query(name))
}

fn ulong(name: cl_device_info) -> u64 {
    info::value(query(name))
}

fn size(name: cl_device_info) -> usize {
    info::value(query(name))
}

fn text(name: cl_device_info) -> String {
    info::text(query(name))
}

fn flag(name: cl_device_info) -> bool {
    uint(name) == CL_TRUE
}

/// The names and versions of a `cl_name_version` array.
fn named(name: cl_device_info) -> Vec<(String, u32)> {
    let entries: Vec<[u8; 68]> = info::array(query(name));
    let pair = |entry: &[u8; 68]| {
        let version = u32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let end = entry[4..].iter().position(|&byte| byte == 0).expect("the name ends");
        (String::from_utf8_lossy(&entry[4..4 + end]).into_owned(), version)
    };
    entries.iter().map(pair).collect()
}

/// The forms in which answers come.
#[derive(Clone, Copy, Debug)]
enum Form {
    U32,
    Bool,
    U64,
    Size,
    Text,
    Names,
    Sizes,
    Properties,
}

/// Every query of the OpenCL 3.0 specification's table of device queries.
const QUERIES: &[(cl_device_info, &str, Form)] = &[
    (CL_DEVICE_TYPE, "type", Form::U64),
    (CL_DEVICE_VENDOR_ID, "vendor_id", Form::U32),
    (CL_DEVICE_MAX_COMPUTE_UNITS, "max_compute_units", Form::U32),
    (CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, "max_work_item_dimensions", Form::U32),
    (CL_DEVICE_MAX_WORK_GROUP_SIZE, "max_work_group_size", Form::Size),
    (CL_DEVICE_MAX_WORK_ITEM_SIZES, "max_work_item_sizes", Form::Sizes),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, "preferred_vector_width_char", Form::U32),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, "preferred_vector_width_short", Form::U32),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, "preferred_vector_width_int", Form::U32),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, "preferred_vector_width_long", Form::U32),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, "preferred_vector_width_float", Form::U32),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, "preferred_vector_width_double", Form::U32),
    (CL_DEVICE_MAX_CLOCK_FREQUENCY, "max_clock_frequency", Form::U32),
    (CL_DEVICE_ADDRESS_BITS, "address_bits", Form::U32),
    (CL_DEVICE_MAX_READ_IMAGE_ARGS, "max_read_image_args", Form::U32),
    (CL_DEVICE_MAX_WRITE_IMAGE_ARGS, "max_write_image_args", Form::U32),
    (CL_DEVICE_MAX_MEM_ALLOC_SIZE, "max_mem_alloc_size", Form::U64),
    (CL_DEVICE_IMAGE2D_MAX_WIDTH, "image2d_max_width", Form::Size),
    (CL_DEVICE_IMAGE2D_MAX_HEIGHT, "image2d_max_height", Form::Size),
    (CL_DEVICE_IMAGE3D_MAX_WIDTH, "image3d_max_width", Form::Size),
    (CL_DEVICE_IMAGE3D_MAX_HEIGHT, "image3d_max_height", Form::Size),
    (CL_DEVICE_IMAGE3D_MAX_DEPTH, "image3d_max_depth", Form::Size),
    (CL_DEVICE_IMAGE_SUPPORT, "image_support", Form::Bool),
    (CL_DEVICE_MAX_PARAMETER_SIZE, "max_parameter_size", Form::Size),
    (CL_DEVICE_MAX_SAMPLERS, "max_samplers", Form::U32),
    (CL_DEVICE_MEM_BASE_ADDR_ALIGN, "mem_base_addr_align", Form::U32),
    (CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, "min_data_type_align_size", Form::U32),
    (CL_DEVICE_SINGLE_FP_CONFIG, "single_fp_config", Form::U64),
    (CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, "global_mem_cache_type", Form::U32),
    (CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "global_mem_cacheline_size", Form::U32),
    (CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "global_mem_cache_size", Form::U64),
    (CL_DEVICE_GLOBAL_MEM_SIZE, "global_mem_size", Form::U64),
    (CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "max_constant_buffer_size", Form::U64),
    (CL_DEVICE_MAX_CONSTANT_ARGS, "max_constant_args", Form::U32),
    (CL_DEVICE_LOCAL_MEM_TYPE, "local_mem_type", Form::U32),
    (CL_DEVICE_LOCAL_MEM_SIZE, "local_mem_size", Form::U64),
    (CL_DEVICE_ERROR_CORRECTION_SUPPORT, "error_correction_support", Form::Bool),
    (CL_DEVICE_PROFILING_TIMER_RESOLUTION, "profiling_timer_resolution", Form::Size),
    (CL_DEVICE_ENDIAN_LITTLE, "endian_little", Form::Bool),
    (CL_DEVICE_AVAILABLE, "available", Form::Bool),
    (CL_DEVICE_COMPILER_AVAILABLE, "compiler_available", Form::Bool),
    (CL_DEVICE_EXECUTION_CAPABILITIES, "execution_capabilities", Form::U64),
    (CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, "queue_on_host_properties", Form::U64),
    (CL_DRIVER_VERSION, "driver_version", Form::Text),
    (CL_DEVICE_NAME, "name", Form::Text),
    (CL_DEVICE_VENDOR, "vendor", Form::Text),
    (CL_DEVICE_PROFILE, "profile", Form::Text),
    (CL_DEVICE_VERSION, "version", Form::Text),
    (CL_DEVICE_EXTENSIONS, "extensions", Form::Text),
    (CL_DEVICE_PLATFORM, "platform", Form::Size),
    (CL_DEVICE_DOUBLE_FP_CONFIG, "double_fp_config", Form::U64),
    (CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, "preferred_vector_width_half", Form::U32),
    (CL_DEVICE_HOST_UNIFIED_MEMORY, "host_unified_memory", Form::Bool),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, "native_vector_width_char", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, "native_vector_width_short", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, "native_vector_width_int", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, "native_vector_width_long", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, "native_vector_width_float", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, "native_vector_width_double", Form::U32),
    (CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, "native_vector_width_half", Form::U32),
    (CL_DEVICE_OPENCL_C_VERSION, "opencl_c_version", Form::Text),
    (CL_DEVICE_LINKER_AVAILABLE, "linker_available", Form::Bool),
    (CL_DEVICE_BUILT_IN_KERNELS, "built_in_kernels", Form::Text),
    (CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, "image_max_buffer_size", Form::Size),
    (CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, "image_max_array_size", Form::Size),
    (CL_DEVICE_PARENT_DEVICE, "parent_device", Form::Size),
    (CL_DEVICE_PARTITION_MAX_SUB_DEVICES, "partition_max_sub_devices", Form::U32),
    (CL_DEVICE_PARTITION_PROPERTIES, "partition_properties", Form::Properties),
    (CL_DEVICE_PARTITION_AFFINITY_DOMAIN, "partition_affinity_domain", Form::U64),
    (CL_DEVICE_PARTITION_TYPE, "partition_type", Form::Properties),
    (CL_DEVICE_REFERENCE_COUNT, "reference_count", Form::U32),
    (CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, "preferred_interop_user_sync", Form::Bool),
    (CL_DEVICE_PRINTF_BUFFER_SIZE, "printf_buffer_size", Form::Size),
    (CL_DEVICE_IMAGE_PITCH_ALIGNMENT, "image_pitch_alignment", Form::U32),
    (CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, "image_base_address_alignment", Form::U32),
    (CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, "max_read_write_image_args", Form::U32),
    (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, "max_global_variable_size", Form::Size),
    (CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, "queue_on_device_properties", Form::U64),
    (CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, "queue_on_device_preferred_size", Form::U32),
    (CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, "queue_on_device_max_size", Form::U32),
    (CL_DEVICE_MAX_ON_DEVICE_QUEUES, "max_on_device_queues", Form::U32),
    (CL_DEVICE_MAX_ON_DEVICE_EVENTS, "max_on_device_events", Form::U32),
    (CL_DEVICE_SVM_CAPABILITIES, "svm_capabilities", Form::U64),
    (CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, "global_variable_preferred_total_size", Form::Size),
    (CL_DEVICE_MAX_PIPE_ARGS, "max_pipe_args", Form::U32),
    (CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, "pipe_max_active_reservations", Form::U32),
    (CL_DEVICE_PIPE_MAX_PACKET_SIZE, "pipe_max_packet_size", Form::U32),
    (CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, "preferred_platform_atomic_alignment", Form::U32),
    (CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, "preferred_global_atomic_alignment", Form::U32),
    (CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, "preferred_local_atomic_alignment", Form::U32),
    (CL_DEVICE_IL_VERSION, "il_version", Form::Text),
    (CL_DEVICE_MAX_NUM_SUB_GROUPS, "max_num_sub_groups", Form::U32),
    (CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, "sub_group_independent_forward_progress", Form::Bool),
    (CL_DEVICE_NUMERIC_VERSION, "numeric_version", Form::U32),
    (CL_DEVICE_EXTENSIONS_WITH_VERSION, "extensions_with_version", Form::Names),
    (CL_DEVICE_ILS_WITH_VERSION, "ils_with_version", Form::Names),
    (CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, "built_in_kernels_with_version", Form::Names),
    (CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, "atomic_memory_capabilities", Form::U64),
    (CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, "atomic_fence_capabilities", Form::U64),
    (CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, "non_uniform_work_group_support", Form::Bool),
    (CL_DEVICE_OPENCL_C_ALL_VERSIONS, "opencl_c_all_versions", Form::Names),
    (CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, "preferred_work_group_size_multiple", Form::Size),
    (CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, "work_group_collective_functions_support", Form::Bool),
    (CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, "generic_address_space_support", Form::Bool),
    (CL_DEVICE_OPENCL_C_FEATURES, "opencl_c_features", Form::Names),
    (CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, "device_enqueue_capabilities", Form::U64),
    (CL_DEVICE_PIPE_SUPPORT, "pipe_support", Form::Bool),
    (CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "latest_conformance_version_passed", Form::Text),
];

#[test]
fn every_query_answers_in_its_form() {
    for &(name, title, form) in QUERIES {
        let code = query(name)(0, ptr::null_mut(), ptr::null_mut());
        assert_eq!(code, CL_SUCCESS, "{title}");
        let bytes = info::bytes(query(name));
        let fits = match form {
            Form::U32 => bytes.len() == 4,
            Form::Bool => bytes == CL_TRUE.to_ne_bytes() || bytes == CL_FALSE.to_ne_bytes(),
            Form::U64 | Form::Size => bytes.len() == 8,
            Form::Text => bytes.last() == Some(&0),
            Form::Names => bytes.len().is_multiple_of(68),
            Form::Sizes => bytes.len() == 8 * uint(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) as usize,
            Form::Properties => bytes.len().is_multiple_of(8),
        };
        assert!(fits, "{title} has {} bytes, which is no {form:?}", bytes.len());
    }
}

#[test]
fn unknown_query() {
    expect(query(0x4fff)(0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
}

#[test]
fn names_and_versions() {
    assert_eq!(ulong(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CPU);
    let (name, minor) = if is_lockstep() { ("OpenCL 3.1 ", 1) } else { ("OpenCL 3.0 ", 0) };
    assert!(text(CL_DEVICE_VERSION).starts_with(name));
    assert!(text(CL_DEVICE_OPENCL_C_VERSION).starts_with("OpenCL C 1.2 "));
    assert_eq!(uint(CL_DEVICE_NUMERIC_VERSION) >> 12, 3 << 10 | minor);
    assert_eq!(info::value::<usize>(query(CL_DEVICE_PLATFORM)), platform() as usize);
    assert_eq!(info::value::<usize>(query(CL_DEVICE_PARENT_DEVICE)), 0);
    assert!(!text(CL_DRIVER_VERSION).is_empty());
    // As versions of the conformance suite are named: vYYYY-MM-DD-XX.
    let suite = text(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED);
    let form: String = suite.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "v0000-00-00-00");
    let versions = named(CL_DEVICE_OPENCL_C_ALL_VERSIONS);
    for version in ["1.0", "1.1", "1.2", "3.0", "3.1"].into_iter().filter(|name| *name != "3.1" || is_lockstep()) {
        let (major, minor) = version.split_once('.').expect("a version");
        let number = major.parse::<u32>().expect("a number") << 22 | minor.parse::<u32>().expect("a number") << 12;
        // "Because OpenCL 3.0 is backwards compatible with OpenCL C 1.2, and 1.2 with 1.1 and 1.0".
        assert!(versions.iter().any(|(_, found)| *found == number), "OpenCL C {version} is not listed");
    }
    if is_lockstep() {
        assert!(!text(CL_DEVICE_VENDOR).is_empty());
        assert_eq!(text(CL_DEVICE_NAME), processor_name());
    }
}

/// The processor's brand string, from the operating system.
fn processor_name() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").expect("the operating system describes the processor");
    let line = about.lines().find(|line| line.starts_with("model name")).expect("the processor has a name");
    line.split_once(':').expect("a name").1.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn minimum_values_of_the_full_profile() {
    assert!(uint(CL_DEVICE_MAX_COMPUTE_UNITS) >= 1);
    assert!(uint(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) >= 3);
    assert!(size(CL_DEVICE_MAX_WORK_GROUP_SIZE) >= 1);
    let sizes: Vec<usize> = info::array(query(CL_DEVICE_MAX_WORK_ITEM_SIZES));
    assert!(sizes.iter().all(|&size| size >= 1));
    assert_eq!(uint(CL_DEVICE_ADDRESS_BITS), 64);
    let memory = ulong(CL_DEVICE_GLOBAL_MEM_SIZE);
    let allocation = ulong(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    // "The minimum value is max(min(1024 × 1024 × 1024, 1/4th of CL_DEVICE_GLOBAL_MEM_SIZE), 32 × 1024 × 1024)".
    assert!(allocation >= (memory / 4).clamp(32 << 20, 1 << 30) && allocation <= memory);
    assert!(size(CL_DEVICE_MAX_PARAMETER_SIZE) >= 1024);
    // "The minimum value is the size (in bits) of the largest OpenCL built-in data type", long16.
    assert!(uint(CL_DEVICE_MEM_BASE_ADDR_ALIGN) >= 1024);
    assert!(uint(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE) >= 128);
    assert!(ulong(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10);
    assert!(uint(CL_DEVICE_MAX_CONSTANT_ARGS) >= 8);
    assert!(ulong(CL_DEVICE_LOCAL_MEM_SIZE) >= 32 << 10);
    assert!([CL_LOCAL, CL_GLOBAL].contains(&uint(CL_DEVICE_LOCAL_MEM_TYPE)));
    assert!(size(CL_DEVICE_PRINTF_BUFFER_SIZE) >= 1 << 20);
    assert!(flag(CL_DEVICE_ENDIAN_LITTLE) && flag(CL_DEVICE_AVAILABLE));
    assert!(flag(CL_DEVICE_COMPILER_AVAILABLE) && flag(CL_DEVICE_LINKER_AVAILABLE));
    assert_ne!(ulong(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL, 0);
    assert_ne!(ulong(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE, 0);
    let single = ulong(CL_DEVICE_SINGLE_FP_CONFIG);
    assert_eq!(single & (CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN), CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN);
    assert_eq!(uint(CL_DEVICE_REFERENCE_COUNT), 1);
    assert!(size(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE) >= 1);
    // "The mandated minimum memory capability" and fence capability.
    let relaxed_group = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    assert_eq!(ulong(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES) & relaxed_group, relaxed_group);
    let fence = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    assert_eq!(ulong(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES) & fence, fence);
}

#[test]
fn work_items_compute_with_scalars() {
    if !is_lockstep() {
        return;
    }
    let half = text(CL_DEVICE_EXTENSIONS).split_whitespace().any(|name| name == "cl_khr_fp16");
    let widths: Vec<_> = QUERIES.iter().filter(|(_, name, _)| name.contains("_vector_width_")).collect();
    assert_eq!(widths.len(), 14);
    for (query, name, _) in widths {
        assert_eq!(uint(*query), u32::from(half || !name.ends_with("half")), "{name}");
    }
}

#[test]
fn extensions_features_and_queries_agree() {
    let extensions = text(CL_DEVICE_EXTENSIONS);
    let mut plain: Vec<&str> = extensions.split_whitespace().collect();
    plain.sort_unstable();
    let versioned = named(CL_DEVICE_EXTENSIONS_WITH_VERSION);
    let mut versioned: Vec<&str> = versioned.iter().map(|(name, _)| name.as_str()).collect();
    versioned.sort_unstable();
    assert_eq!(plain, versioned);
    let features = named(CL_DEVICE_OPENCL_C_FEATURES);
    let feature = |name: &str| features.iter().any(|(found, _)| found == name);
    assert_eq!(feature("__opencl_c_fp64"), ulong(CL_DEVICE_DOUBLE_FP_CONFIG) != 0);
    assert_eq!(plain.contains(&"cl_khr_fp64"), ulong(CL_DEVICE_DOUBLE_FP_CONFIG) != 0);
    assert_eq!(feature("__opencl_c_images"), flag(CL_DEVICE_IMAGE_SUPPORT));
    assert_eq!(feature("__opencl_c_pipes"), flag(CL_DEVICE_PIPE_SUPPORT));
    assert_eq!(feature("__opencl_c_generic_address_space"), flag(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT));
    let collective = flag(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT);
    assert_eq!(feature("__opencl_c_work_group_collective_functions"), collective);
    assert_eq!(feature("__opencl_c_device_enqueue"), ulong(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) & 1 != 0);
    assert!(feature("__opencl_c_int64"), "mandatory in the full profile");
    // Required of a device that implements OpenCL 1.1 or later.
    for name in ["base", "extended"].iter().flat_map(|kind| ["local", "global"].map(|space| (kind, space))) {
        let name = format!("cl_khr_{}_int32_{}_atomics", name.1, name.0);
        assert!(plain.contains(&name.as_str()), "{name} is missing");
    }
    assert!(plain.contains(&"cl_khr_byte_addressable_store"));
    if is_lockstep() {
        assert!(flag(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT));
        assert_ne!(ulong(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL, 0);
        assert_ne!(ulong(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0);
        assert_ne!(ulong(CL_DEVICE_DOUBLE_FP_CONFIG), 0);
    }
}

#[test]
fn listing_devices() {
    let list = |kind, entries, devices, count| (cl().clGetDeviceIDs)(platform(), kind, entries, devices, count);
    let mut count = 0;
    let mut one = ptr::null_mut();
    for kind in [CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_DEFAULT] {
        ok(list(kind, 0, ptr::null_mut(), &mut count));
        assert!(count >= 1);
        ok(list(kind, 1, &mut one, ptr::null_mut()));
        assert_eq!(one, device());
    }
    expect(list(CL_DEVICE_TYPE_ALL, 0, &mut one, ptr::null_mut()), CL_INVALID_VALUE);
    expect(list(CL_DEVICE_TYPE_ALL, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    expect(list(CL_DEVICE_TYPE_GPU, 0, ptr::null_mut(), &mut count), CL_DEVICE_NOT_FOUND);
    expect(list(0x8000, 0, ptr::null_mut(), &mut count), CL_INVALID_DEVICE_TYPE);
}

#[test]
fn root_devices_are_not_counted() {
    // "If device is a root level device ... the reference count ... is not modified" (retain), nor by release.
    ok((cl().clRetainDevice)(device()));
    assert_eq!(uint(CL_DEVICE_REFERENCE_COUNT), 1);
    ok((cl().clReleaseDevice)(device()));
    ok((cl().clReleaseDevice)(device()));
    assert_eq!(uint(CL_DEVICE_REFERENCE_COUNT), 1);
}

#[test]
fn timers() {
    if info::value::<u64>(|size, value, returned| {
        (cl().clGetPlatformInfo)(platform(), CL_PLATFORM_HOST_TIMER_RESOLUTION, size, value, returned)
    }) == 0
    {
        let mut time = 0;
        // "CL_INVALID_OPERATION if the platform associated with device does not support device and host timer
        // synchronization".
        expect((cl().clGetHostTimer)(device(), &mut time), CL_INVALID_OPERATION);
        return;
    }
    let (mut device_time, mut host_time, mut later) = (0, 0, 0);
    ok((cl().clGetDeviceAndHostTimer)(device(), &mut device_time, &mut host_time));
    ok((cl().clGetHostTimer)(device(), &mut later));
    assert!(later >= host_time);
    expect((cl().clGetHostTimer)(device(), ptr::null_mut()), CL_INVALID_VALUE);
    expect((cl().clGetDeviceAndHostTimer)(device(), ptr::null_mut(), &mut later), CL_INVALID_VALUE);
}

#[test]
fn partitions() {
    let properties: Vec<isize> = info::array(query(CL_DEVICE_PARTITION_PROPERTIES));
    let supported = properties.iter().any(|&property| property != 0);
    assert_eq!(supported, uint(CL_DEVICE_PARTITION_MAX_SUB_DEVICES) > 1);
    if !supported {
        let equally = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
        let mut count = 0;
        let code = (cl().clCreateSubDevices)(device(), equally.as_ptr(), 0, ptr::null_mut(), &mut count);
        // "CL_INVALID_VALUE if ... the values are not supported by the device", or "CL_DEVICE_PARTITION_FAILED if the
        // partition name is supported by the implementation but in_device could not be further partitioned".
        expect(code, if is_lockstep() { CL_DEVICE_PARTITION_FAILED } else { CL_INVALID_VALUE });
    }
    expect((cl().clCreateSubDevices)(device(), ptr::null(), 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
}
