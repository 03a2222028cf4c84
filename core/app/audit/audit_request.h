/* Request of `kubelua audit`, and its possible ends. Owner: the command's stack. */
#pragma once
#include "app/options/options.h"
#include "audit/fix/fixes.h"
#include "audit/found/baseline.h"
#include "audit/found/table.h"
#include "engine/reload/script_files.h"
#include "object/value/selector.h"

enum { AUDIT_NICE_DEFAULT = 10 };

struct audit_engine_flags {
    bool enabled; /* --engine: a running one, in place of a cluster */
    bool show_secrets;
    int children, nice;
    int64_t timeout_ms;
    size_t child_memory;
};

struct audit_request {
    struct options options;
    struct script_files files; /* of rules */
    struct flag_list from;     /* what is audited; empty: a cluster */
    struct flag_list exclude;  /* of directories in `from` */
    const char *output, *fail_on, *baseline, *explain;
    const char *selector;    /* matches objects to audit; NULL: all */
    struct selector *labels; /* its source; NULL with it */
    size_t max_input_size;   /* of all of `from`, unpacked; 0: no limit */
    bool list_rules;         /* and audit nothing */
    bool allow_empty;
    bool fix, apply; /* apply: fix too */
    struct audit_engine_flags engine;
    struct baseline *known;    /* what --baseline has; NULL: nothing */
    struct audit_fixes *fixes; /* with --fix: gets what is to be done */
};

enum audit_end {
    AUDIT_COMPLETE,
    AUDIT_UNREADABLE, /* something could not be read, which was reported on stderr; the rest was audited */
    AUDIT_INCOMPLETE, /* something could not be had of the cluster or the engine, which was reported on stderr
                       */
    AUDIT_FAILED,     /* nothing was audited; err is the reason */
};
