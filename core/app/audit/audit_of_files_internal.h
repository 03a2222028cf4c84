/* Internals of audits of files: audit_of_files.c reads, and audit_of_files_share.c has large files read by
 * several processes. Owner: the command, on its only thread; each worker has a copy. */
#pragma once
#include "app/audit/audit_of_files.h"
#include "app/audit/audit_scripts.h"
#include "app/audit/audit_unmatched.h"
#include "app/audit/audit_workers.h"
#include "audit/input/input.h"
#include "audit/rules/objects.h"
#include "base/cli/progress.h"
#include "engine/load_host.h"

struct offline {
    const struct audit_request *request;
    struct audit_table *table;
    struct load_host dry;
    struct pool *pool;
    struct packer *packer;
    struct catalogue *catalogue;
    struct audit_objects *objects; /* NULL: each is forgotten once it was audited */
    struct audit_scripts scripts;
    struct progress progress;
    size_t read;      /* objects */
    size_t elsewhere; /* objects of kinds that rules match, of other namespaces than that of -n */
    size_t path;      /* of --from, which is read now */
    double share;     /* of all that is read; below 0: not known */
    bool partial;     /* something could not be read */
    bool unevaluated; /* a rule was not evaluated, or nobody knows about what */
    struct audit_unmatched unmatched;
    struct audit_input_options input;
    const struct input_share *shared; /* by workers, while it is read */
    struct audit_worker *worker;      /* in a process that audits pieces of a file; NULL elsewhere */
};

/* Returns whether a rule matches objects of that type (audit_input_options.wanted). */
bool offline_wants(void *offline, struct str api_version, struct str kind);
/* As audit_input_options.share has it. */
size_t offline_share(void *offline, struct input_share *share, uint64_t *lines);
