/* Meter of work that is done in pieces, between which its thread does other work: the CPU time of all pieces,
 * and of the longest. Owner: who does the work. A piece begins and ends on one thread, and does not nest. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whoever shall not hold up others on the thread ends a piece after so long: others wait for it and one step
 * of it. */
enum { PIECE_BRIEF_US = 1000 };
/* So long nobody may wait for a piece: the log tells of it, with -v. */
enum { PIECE_LONG_US = 5000 };

struct piece_meter {
    const char *of;     /* "prompt": whose pieces they are, for the log */
    int64_t begun_ns;   /* of the piece under way, by the thread's CPU clock; 0: none is */
    int64_t started_ns; /* and by the clock, which costs no system call */
    int64_t cpu_ns, longest_ns;
    size_t pieces;
    long faults;            /* of pages, before it */
    long preempted;         /* times that another process had taken the core before the piece under way */
    long longest_preempted; /* and in the longest piece: its caches were cold after each */
    struct piece_stage {
        const char *name; /* NULL: none in particular */
        int64_t ns;
    } longest_stage;   /* of the piece under way */
    const char *stage; /* that it is in */
    int64_t entered_ns;
};

void piece_begin(struct piece_meter *meter);
/* Returns the CPU time of the piece under way. Costs a system call. */
int64_t piece_ns(const struct piece_meter *meter);
/* Returns whether the piece under way has had so much CPU time. Costs a system call only once it has lasted
 * as long, so that it may be asked behind each short step. */
bool piece_has_had(const struct piece_meter *meter, int64_t us);
void piece_end(struct piece_meter *meter);
/* The piece under way enters a stage, so that the log can say where a long one was. Returns the stage that it
 * was in, to which it may go back. Costs a system call; `meter` NULL, or no piece under way: nothing. */
const char *piece_enter(struct piece_meter *meter, const char *stage);
