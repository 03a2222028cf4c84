/* Internals shared by the two halves of a reload: reload.c loads incoming generations, waits for them and
 * refuses them, reload_activate.c activates them. Owner and thread as in reload.h. */
#pragma once
#include <stdint.h>

struct bundle;
struct managed_script;
struct managed_scripts;

/* --- reload.c */

/* Loads an incoming generation from `bundle`, borrowed; `why` is a literal. */
void reload_load(struct managed_script *managed, struct bundle *bundle, const char *why);
/* Refuses a generation; the running one goes on. `bundle` is not tried again until it changes. */
void reload_refuse(struct managed_script *managed, struct bundle *bundle, const char *text);
void reload_set_error(struct managed_script *managed, const char *text);
void reload_forget_error(struct managed_script *managed);

/* --- reload_files.c */

/* Watches the files of all scripts and their modules. */
void reload_watch_files(const struct managed_scripts *scripts);

/* --- reload_activate.c */

/* Starts a ready incoming generation as the first one; may refuse it. */
void reload_start_first(struct managed_script *managed);
/* Activates a ready incoming generation; may load it again or refuse it. */
void reload_activate(struct managed_script *managed);

/* --- Counters of reloads in /metrics. Owner: the engine, on its thread. */

struct handover;
struct reload_metrics;

enum reload_result { RELOAD_ACTIVATED, RELOAD_REFUSED, RELOAD_ROLLED_BACK, RELOAD_RESULTS };

struct reload_metrics *reload_metrics_new(void);
/* Frees the counters. NULL is allowed, here and below. */
void reload_metrics_free(struct reload_metrics *metrics);
void reload_metrics_ended(struct reload_metrics *metrics, enum reload_result result);
void reload_metrics_activated(struct reload_metrics *metrics, const struct handover *done, int64_t pause_ns);
/* Counts calls of an old generation that did not end in time. */
void reload_metrics_cancelled(struct reload_metrics *metrics, uint64_t calls);
