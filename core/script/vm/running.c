/* The call that is under way, in words; see running.h. */
#include "script/vm/running.h"

void running_describe(struct running *running, struct buf *out)
{
    const char *script = atomic_load_explicit(&running->script, memory_order_acquire);
    const char *what = atomic_load_explicit(&running->what, memory_order_relaxed);
    if (script) buf_printf(out, "the script %s is in %s", script, what ? what : "a call");
}
