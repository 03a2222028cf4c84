/* Audits of files: scripts without a server, objects read one by one; where a rule looks at other objects
 * too, all are read first. Owner: the command, on the main thread. */
#pragma once
#include "app/options.h"
#include "app/script_files.h"
#include "audit/input.h"
#include "audit/table.h"

struct audit_offline_options {
    const struct options *options;    /* borrowed, as all of these */
    const struct script_files *files; /* of rules */
    const struct flag_list *from;     /* what is audited */
    bool recursive;                   /* folders in folders too */
    size_t max_object_size;
    struct audit_table *table;
    bool fixes;
};

enum audit_end {
    AUDIT_WHOLE,
    AUDIT_PARTIAL, /* something could not be read; it was told on stderr */
    AUDIT_FAILED,  /* nothing was audited, and `err` says why */
};

enum audit_end audit_offline(const struct audit_offline_options *options, struct err *err);
