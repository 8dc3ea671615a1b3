//! Sub-devices (OpenCL API, 4.3, "Partitioning a Device").

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::Device;
use lockstep_runtime::partition::Scheme;
use lockstep_runtime::topology::Domain;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
    CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, CL_DEVICE_AFFINITY_DOMAIN_NUMA,
    CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END,
    CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_FAILED, CL_INVALID_DEVICE_PARTITION_COUNT, CL_INVALID_VALUE,
    cl_device_affinity_domain, cl_device_id, cl_device_partition_property, cl_uint,
};

use crate::handle;
use crate::info::Info;

/// The bit of a domain.
fn bit(domain: Domain) -> cl_device_affinity_domain {
    match domain {
        Domain::Numa => CL_DEVICE_AFFINITY_DOMAIN_NUMA,
        Domain::Cache(4) => CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
        Domain::Cache(3) => CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
        Domain::Cache(2) => CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
        Domain::Cache(_) => CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
    }
}

/// Reads a property list: the scheme, and the list as `CL_DEVICE_PARTITION_TYPE` gives it back.
///
/// "CL_INVALID_VALUE if values specified in properties are not valid".
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(
    device: &Device,
    properties: *const cl_device_partition_property,
) -> Result<(Scheme, Vec<cl_device_partition_property>)> {
    ensure!(!properties.is_null(), CL_INVALID_VALUE, "properties is NULL");
    // SAFETY: what is read has a place as long as nothing before it was the list's end.
    let at = |index: usize| unsafe { properties.add(index).read() };
    let name = at(0);
    match name {
        CL_DEVICE_PARTITION_EQUALLY => {
            let size = at(1);
            let wrong = || error!(CL_INVALID_VALUE, "CL_DEVICE_PARTITION_EQUALLY into parts of {size} compute units");
            let units = usize::try_from(size).ok().filter(|&units| units > 0).ok_or_else(wrong)?;
            check_end(at(2))?;
            Ok((Scheme::Equally(units), vec![name, size, 0]))
        }
        CL_DEVICE_PARTITION_BY_COUNTS => {
            let (mut counts, mut list) = (Vec::new(), vec![name]);
            loop {
                let count = at(list.len());
                list.push(count);
                if count == CL_DEVICE_PARTITION_BY_COUNTS_LIST_END {
                    break;
                }
                // "CL_INVALID_DEVICE_PARTITION_COUNT if [...] the number of compute units requested for one or more
                // sub-devices is less than zero or the number of sub-devices requested exceeds
                // CL_DEVICE_PARTITION_MAX_SUB_DEVICES". A list without an end is found here, too.
                let what = "CL_DEVICE_PARTITION_BY_COUNTS";
                let wrong = |_| error!(CL_INVALID_DEVICE_PARTITION_COUNT, "{what} with {count} compute units");
                counts.push(usize::try_from(count).map_err(wrong)?);
                let most = device.compute_units();
                ensure!(
                    counts.len() <= most as usize,
                    CL_INVALID_DEVICE_PARTITION_COUNT,
                    "{what} into more sub-devices than the {most} compute units that there are"
                );
            }
            // The end of the counts and that of the properties.
            list.push(0);
            Ok((Scheme::ByCounts(counts), list))
        }
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN => {
            let asked = at(1) as cl_device_affinity_domain;
            check_end(at(2))?;
            let domain = if asked == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE {
                // "The implementation shall find the first level along which the device or sub-device may be further
                // subdivided in the order NUMA, L4, L3, L2, L1".
                let first = device.partition_domains().first().copied();
                let none = || error!(CL_DEVICE_PARTITION_FAILED, "the device cannot be divided by any affinity domain");
                first.ok_or_else(none)?
            } else {
                let found = Domain::ALL.into_iter().find(|&domain| bit(domain) == asked);
                found.ok_or_else(|| error!(CL_INVALID_VALUE, "{asked:#x} is no affinity domain"))?
            };
            // "In the case where the properties argument [...] is CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
            // CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, the affinity domain used to perform the partition will be
            // returned."
            Ok((Scheme::ByDomain(domain), vec![name, bit(domain) as cl_device_partition_property, 0]))
        }
        _ => Err(error!(CL_INVALID_VALUE, "{name:#x} is no way to partition a device")),
    }
}

/// "Only one of the listed partitioning schemes can be specified in properties."
fn check_end(property: cl_device_partition_property) -> Result<()> {
    ensure!(property == 0, CL_INVALID_VALUE, "properties go on with {property:#x}; one way to partition is allowed");
    Ok(())
}

/// `clCreateSubDevices`: divides a device into devices of fewer compute units.
#[entry_point(clCreateSubDevices)]
pub unsafe fn create_sub_devices(
    in_device: cl_device_id,
    properties: *const cl_device_partition_property,
    num_devices: cl_uint,
    out_devices: *mut cl_device_id,
    num_devices_ret: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_DEVICE if in_device is not a valid device."
    let device = handle::get::<Device>(in_device)?;
    // SAFETY: the caller vouches for the list.
    let (scheme, list) = unsafe { read_properties(&device, properties)? };
    let parts = device.create_sub_devices(&scheme, &list)?;
    if !out_devices.is_null() {
        // "CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of sub-devices
        // created by the partition scheme."
        let count = parts.len();
        ensure!(num_devices as usize >= count, CL_INVALID_VALUE, "num_devices is {num_devices}; there are {count}");
        let mut handles = Vec::with_capacity(parts.len());
        for part in &parts {
            match handle::publish(part.clone()) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    // All of them or none.
                    handles.into_iter().for_each(|handle| _ = handle::release::<Device>(handle));
                    return Err(error);
                }
            }
        }
        for (index, handle) in handles.into_iter().enumerate() {
            // SAFETY: not null, and fewer than `num_devices`.
            unsafe { out_devices.add(index).write(handle) };
        }
    }
    if !num_devices_ret.is_null() {
        // SAFETY: not null.
        unsafe { num_devices_ret.write(parts.len() as cl_uint) };
    }
    Ok(())
}

/// `clRetainDevice`: "increments the device reference count if device is a valid sub-device [...]. If device is a root
/// level device [...] the device reference count remains unchanged."
#[entry_point(clRetainDeviceEXT)]
pub fn retain_device(device: cl_device_id) -> Result<()> {
    match handle::get::<Device>(device)?.parent() {
        Some(_) => handle::retain::<Device>(device),
        None => Ok(()),
    }
}

/// `clReleaseDevice`; as [`retain_device`].
#[entry_point(clReleaseDeviceEXT)]
pub fn release_device(device: cl_device_id) -> Result<()> {
    match handle::get::<Device>(device)?.parent() {
        Some(_) => handle::release::<Device>(device),
        None => Ok(()),
    }
}

/// `CL_DEVICE_PARTITION_PROPERTIES`: "If the device cannot be partitioned (i.e. there is no partitioning scheme supported
/// by the device that will return at least two sub-devices), a value of 0 will be returned."
pub fn schemes(device: &Device, info: Info) -> Result<()> {
    let mut schemes = Vec::new();
    if device.compute_units() > 1 {
        schemes.extend([CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS]);
    }
    if !device.partition_domains().is_empty() {
        schemes.push(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN);
    }
    if schemes.is_empty() {
        schemes.push(0);
    }
    info.slice(&schemes)
}

/// The domains along which it can be divided (`CL_DEVICE_PARTITION_AFFINITY_DOMAIN`).
pub fn affinity_domains(device: &Device, info: Info) -> Result<()> {
    let domains = device.partition_domains();
    let next = if domains.is_empty() { 0 } else { CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE };
    info.value(domains.into_iter().fold(next, |bits, domain| bits | bit(domain)))
}

/// `CL_DEVICE_PARTITION_TYPE`: for a root device "the implementation may either return a param_value_size_ret of 0 [...]
/// or can return a property value of 0".
pub fn partition_type(device: &Device, info: Info) -> Result<()> {
    match device.partition_type() {
        [] => info.value::<cl_device_partition_property>(0),
        list => info.slice(list),
    }
}
