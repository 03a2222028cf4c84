//! The allocator, and how to have it give back to the system what it can.

#[cfg(feature = "jemalloc")]
mod allocator {
    use std::ptr::null_mut;
    use tikv_jemalloc_sys::mallctl;

    #[global_allocator]
    static JEMALLOC: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Of all arenas: 4096 is MALLCTL_ARENAS_ALL.
    const COMMANDS: [&std::ffi::CStr; 2] = [c"thread.tcache.flush", c"arena.4096.purge"];

    pub fn trim() {
        for command in COMMANDS {
            // SAFETY: both commands take nothing and give nothing; the name ends with a zero.
            let code = unsafe { mallctl(command.as_ptr(), null_mut(), null_mut(), null_mut(), 0) };
            assert_eq!(code, 0, "mallctl {command:?}");
        }
    }
}

#[cfg(not(feature = "jemalloc"))]
mod allocator {
    pub fn trim() {
        // SAFETY: it takes the allocator's own locks and has no other condition.
        unsafe { libc::malloc_trim(0) };
    }
}

pub use allocator::trim;
