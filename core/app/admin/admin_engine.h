/* Methods of the admin socket about a running engine, by their names. Other wings register what they have:
 * parts of the status here, sessions at the socket (admin_socket.h). Owner: the driver of the engine; on the
 * engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "app/admin/admin_call.h"
#include "base/str.h"

struct admin_document;
struct buf;
struct engine;
struct flag;
struct flags_given;
struct monitor;
struct managed_script;
struct script;

/* Appends a member of the status. */
struct admin_part {
    void (*put)(void *ctx, struct buf *out);
    void *ctx;
};

struct admin_engine {
    struct engine *engine;
    struct monitor *monitor;
    const char *page;               /* address of the page for browsers; NULL: none; borrowed */
    const struct admin_part *parts; /* the last ones of the status; borrowed */
    size_t part_count;
    const struct flag *const *flags;       /* settings in force; NULL: none to tell; borrowed */
    const struct flags_given *given;       /* those that were set; borrowed */
    LIST_HEAD(, admin_document) documents; /* that are being written; admin_documents_end frees them */
};

/* The `reply` and the `begin` of the socket, whose ctx is the struct admin_engine. */
bool admin_engine_reply(void *admin, const char *method, struct buf *result, struct err *err);
bool admin_engine_begin(void *admin, struct admin_call *call);

/* Writes the state for the page of --ui-bind-address: the status, and the last writes; `done` as of
 * admin_document_write. `admin` is a struct admin_engine. */
void admin_write_page(void *admin, void (*done)(void *ctx, struct buf *text), void *ctx);

/* Takes the calls for documents; returns false for others. */
bool admin_begin_document(struct admin_engine *admin, struct admin_call *call);

/* --- admin_audits.c */

/* Prints continuous audits; nothing without them. */
void admin_put_continuous(const struct admin_engine *admin, struct buf *out);

/* --- admin_command.c */

/* Appends a member with an error, in which secrets are hidden as in the log. */
void admin_put_error(struct buf *out, const char *key, struct str text);
void admin_put_commands(const struct admin_engine *admin, struct buf *out);

/* --- admin_config.c */

/* All flags of the engine with their values, and where they were set; secrets are hidden. */
void admin_put_config(const struct admin_engine *admin, struct buf *out);

/* --- admin_clusters.c */

/* Appends "clusters", if there are several. */
void admin_put_clusters(const struct engine *engine, struct buf *out);

/* --- admin_informers.c */

/* Each informer once, whoever shares it; a unit (admin_document.h) is a claim. */
bool admin_put_informers(const struct admin_engine *admin, size_t at, struct buf *out);

/* --- admin_informers.c */

/* Prints the timers with the times at which they are due; a unit is a generation. */
bool admin_put_timers(const struct admin_engine *admin, size_t at, struct buf *out);

/* --- admin_leases.c */

/* Prints the leases with who leads. */
void admin_put_leases(const struct admin_engine *admin, struct buf *out);

/* --- admin_quarantine.c */

/* Prints what is in quarantine; admin_lift ends the quarantine of the request's items, which have a script
 * and an id. */
void admin_put_quarantine(const struct admin_engine *admin, struct buf *out);
void admin_lift(struct engine *engine, struct admin_call *call);

/* --- admin_reload.c */

/* Takes the calls reload and rollback, whose parameters are a list of scripts; returns false for others.
 */
bool admin_begin_reload(struct engine *engine, struct admin_call *call);
/* Appends a member with how reloads of all scripts are. */
void admin_put_reloads(const struct admin_engine *admin, struct buf *out);
/* Appends the status of the script's generations. */
void admin_put_generations(const struct managed_script *managed, struct buf *out);

/* --- admin_params.c */

/* Prints the parameters that the script and its rules declare, or those of one rule alone. Values are JSON in
 * texts; a secret has none. */
void admin_put_params(const struct script *script, const char *rule, struct buf *out);

/* --- admin_rules.c */

/* Appends a rule as its author describes it; values of its parameters are JSON in texts. */
void admin_put_rule(const struct script *script, size_t number, struct buf *out);
/* Prints the rules of all scripts that run. */
void admin_put_rules(const struct admin_engine *admin, struct buf *out);

/* --- admin_reload.c */

/* Appends members with the plans of all scripts that run, and what of the flags they depend on. */
void admin_put_plans(const struct admin_engine *admin, struct buf *out);

/* --- admin_status.c */

void admin_put_engine(const struct admin_engine *admin, struct buf *out);
/* A unit (admin_document.h) is a script, also of the queues. */
bool admin_put_scripts(const struct admin_engine *admin, size_t at, struct buf *out);
bool admin_put_queues(const struct admin_engine *admin, size_t at, struct buf *out);
