/* Meter of work that is done in pieces, between which its thread does other work: the CPU time of all pieces,
 * and of the longest. Owner: who does the work. A piece begins and ends on one thread, and does not nest. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Whoever shall not hold up others on the thread ends a piece after so long: others wait for it and one step
 * of it. */
enum { PIECE_BRIEF_US = 1000 };

struct piece_meter {
    int64_t begun_ns; /* of the piece under way, by the thread's CPU clock; 0: none is */
    int64_t cpu_ns, longest_ns;
    size_t pieces;
    long preempted;         /* times that another process had taken the core before the piece under way */
    long longest_preempted; /* and in the longest piece: its caches were cold after each */
};

void piece_begin(struct piece_meter *meter);
/* Returns the CPU time of the piece under way. Costs a system call. */
int64_t piece_ns(const struct piece_meter *meter);
void piece_end(struct piece_meter *meter);
