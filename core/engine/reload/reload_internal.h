/* Internals shared by the two halves of a reload: reload.c loads incoming generations, waits for them and
 * refuses them, reload_activate.c activates them. Owner and thread as in reload.h. */
#pragma once
#include <stdint.h>

struct bundle;
struct managed_script;

/* --- reload.c */

/* Makes an incoming generation of `bundle`, borrowed; `why` is a literal. */
void reload_load(struct managed_script *managed, struct bundle *bundle, const char *why);
/* Refuses a generation; the running one goes on. `bundle` is not tried again until it changes. */
void reload_refuse(struct managed_script *managed, struct bundle *bundle, const char *text);
void reload_set_error(struct managed_script *managed, const char *text);
void reload_forget_error(struct managed_script *managed);

/* --- reload_activate.c */

/* The incoming generation is ready, and the script's first generation. It may be refused. */
void reload_start_first(struct managed_script *managed);
/* The incoming generation is ready: it follows the one that runs, or is loaded once more, or refused. */
void reload_activate(struct managed_script *managed);

/* --- Counters of reloads, in the series of /metrics. Owner: the engine, on its thread. */

struct handover;
struct reload_metrics;

enum reload_result { RELOAD_ACTIVATED, RELOAD_REFUSED, RELOAD_ROLLED_BACK, RELOAD_RESULTS };

struct reload_metrics *reload_metrics_new(void);
/* NULL is allowed, here and below. */
void reload_metrics_free(struct reload_metrics *metrics);
void reload_metrics_ended(struct reload_metrics *metrics, enum reload_result result);
void reload_metrics_activated(struct reload_metrics *metrics, const struct handover *done, int64_t pause_ns);
/* Calls of an old generation that did not end in time. */
void reload_metrics_cancelled(struct reload_metrics *metrics, uint64_t calls);
