//! How much memory there is, and how much the processes of a child hold.

/// Returns the memory of this machine, or of the container we run in, in bytes;
/// none where the system does not say.
///
/// Source: `proc_meminfo(5)` and `memory.max` of control groups, version 2; on
/// macOS `hw.memsize` of `sysctl(3)`.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    machine()
}

#[cfg(target_os = "linux")]
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let machine = kilobytes.saturating_mul(1024);
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    Some(group.map_or(machine, |group: u64| group.min(machine)))
}

#[cfg(target_vendor = "apple")]
pub(super) use apple::{machine, resident_bytes};

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn machine() -> Option<u64> {
    None
}

#[cfg(target_vendor = "apple")]
#[expect(
    unsafe_code,
    reason = "the system tells of memory through C functions only"
)]
mod apple {
    use std::ffi::c_void;
    use std::mem::MaybeUninit;

    /// A group has seldom more processes, and what is not listed is not counted.
    const MOST: usize = 4096;

    pub(crate) fn machine() -> Option<u64> {
        let mut bytes = 0_u64;
        let mut size = size_of::<u64>();
        // SAFETY: the name ends with a null byte, and the value is a number of 64
        // bits, which `bytes` has room for, as `size` says.
        let failed = unsafe {
            libc::sysctlbyname(
                c"hw.memsize".as_ptr(),
                (&raw mut bytes).cast::<c_void>(),
                &raw mut size,
                std::ptr::null_mut(),
                0,
            )
        };
        (failed == 0).then_some(bytes)
    }

    /// Returns how many bytes the processes of the group that `leader` leads hold.
    ///
    /// Source: `libproc.h` of macOS.
    pub(crate) fn resident_bytes(leader: i32) -> Option<u64> {
        let mut members = vec![0_i32; MOST];
        let room = i32::try_from(MOST * size_of::<i32>()).ok()?;
        // SAFETY: the list has room for as many bytes as it is said to have.
        let count =
            unsafe { libc::proc_listpgrppids(leader, members.as_mut_ptr().cast::<c_void>(), room) };
        let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
        Some(
            members
                .iter()
                .take(count)
                .filter_map(|pid| footprint(*pid))
                .sum(),
        )
    }

    /// What the system holds a process to account for.
    fn footprint(pid: i32) -> Option<u64> {
        let mut usage = MaybeUninit::<libc::rusage_info_v2>::zeroed();
        // SAFETY: the structure is that of the flavour that is asked for.
        let failed =
            unsafe { libc::proc_pid_rusage(pid, libc::RUSAGE_INFO_V2, usage.as_mut_ptr().cast()) };
        if failed != 0 {
            return None;
        }
        // SAFETY: it was filled, and was all zeros before, which is valid too.
        Some(unsafe { usage.assume_init() }.ri_phys_footprint)
    }
}
