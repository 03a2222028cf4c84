/* The scripts of kubelua's own subjects: bench/scripts/, compiled into the binary, written to a folder so
 * that `kubelua run` can read them.
 * Owner: whoever made the folder. The main thread of `kubelua bench`. */
#pragma once
#include "base/embedded.h"
#include "base/err.h"

extern const struct embedded_module bench_scripts[];

/* A new temporary folder with all of them; NULL with an error. */
char *bench_scripts_write(struct err *err);
/* Takes the path; NULL is fine. */
void bench_scripts_remove(char *folder);
