/* Facts of the kernel about this process.
 * Owner: a plain value. On any thread; reads files of /proc, which does not block. */
#pragma once

struct process_info {
    double cpu_seconds, start_time_seconds;
    double resident_bytes, virtual_bytes;
    double open_fds, max_fds;
};

/* Fills `info`; values that cannot be read stay 0. */
void process_info_read(struct process_info *info);
