/* Functions that k8s.test needs of the layers above: an engine for one script, on a cluster in memory and a
 * clock that stands still. The command that runs specs hands its functions down. Owner: the spec's handle.
 * All on the one thread; nothing here may be called from a callback of the engine. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "kube/kinds/resource.h"
#include "script/generation/script.h"
#include "script/vm/limits.h"

struct handover;
struct spec_engine;

struct spec_engine_options {
    const char *namespace_;      /* of informers that do not say; "" all */
    int64_t wall_us;             /* when the clock begins */
    const struct limits *limits; /* of scripts; copied; NULL: the defaults */
    const char *const *trusted;  /* scripts, as of the host (host.h), as the next */
    size_t trusted_count;
    const char *const *lua_path;
    size_t lua_path_count;
    const char *const *params; /* of rules, "restarts=10", as --param has them; copied */
    size_t param_count;
    bool live;   /* print and log as `kubelua run` does, and only tell of writes */
    bool elects; /* scripts that do not call k8s.leader take part in an election too */
};

struct spec_fault_options {
    int id;                                                                       /* the test's name for it */
    const char *verb, *kind, *namespace_, *name, *subresource, *reason, *message; /* NULL: any, or none */
    int code, retry_after_s, skip, times;
    int64_t delay_ms;
};

enum { TEST_ANSWER_HEADERS_MAX = 20 };

/* Response of a server other than the API server to http.request. */
struct spec_response {
    const char *method, *url;                         /* the first NULL: any; the second may end with "*" */
    const char *headers[2 * TEST_ANSWER_HEADERS_MAX]; /* name, value, ... */
    size_t header_count;
    struct str body;
    int status, times; /* 0 times: always */
    int64_t delay_ms;
};

/* Changes that a recording made to the cluster. */
struct replay_counts {
    uint64_t objects; /* of the first lists */
    uint64_t changes; /* after those */
};

struct spec_audit {
    const char *rule; /* whose findings are told; NULL: all rules' */
    bool passes;      /* what passed is told too */
};

struct spec_call_result {
    enum script_command_end end;
    bool is_json;
    struct buf *text; /* the caller's: what it returned, or why it failed */
};

struct spec_engine_ops {
    struct spec_engine *(*open)(const struct spec_engine_options *options, struct err *err);
    void (*free)(struct spec_engine *engine);
    /* Loads a script and settles: its informers are synced. */
    bool (*load)(struct spec_engine *engine, const char *path, const char *name, struct err *err);
    /* The next generation of a script that was loaded, from this text (NULL: from what its file says now),
     * takes over. False with why: it runs on as it was. */
    bool (*reload)(struct spec_engine *engine, const char *name, struct str text, struct handover *done,
                   struct err *err);
    /* Its text; NULL: there is no such script. Borrowed until it is reloaded. */
    struct str (*source)(struct spec_engine *engine, const char *name);
    /* The first one; NULL before. */
    struct script *(*script)(struct spec_engine *engine);
    /* Does all that is due. ERR_LIMIT when that does not end. */
    bool (*settle)(struct spec_engine *engine, struct err *err);
    /* Moves the clock on, from one thing that is due to the next. */
    bool (*advance)(struct spec_engine *engine, int64_t ms, struct err *err);
    int64_t (*now_us)(struct spec_engine *engine);
    /* Since it was opened. */
    int64_t (*elapsed_ms)(struct spec_engine *engine);
    /* Appends what happened since the last time: JSON objects, with commas in between. */
    void (*take_records)(struct spec_engine *engine, struct buf *out);
    /* Stores objects past all rules; nobody is told before it settles. */
    bool (*put)(struct spec_engine *engine, struct str json, struct err *err);
    /* Removes the object of a path at once; false when it is not there. */
    bool (*remove)(struct spec_engine *engine, const char *path);
    /* A request past all rules; appends the answer, gives its code. */
    int (*request)(struct spec_engine *engine, const char *method, const char *target,
                   const char *content_type, struct str body, struct buf *answer);
    /* Has the cluster serve a kind that it may not have; it is known when this returns. */
    bool (*add_kind)(struct spec_engine *engine, const struct resource *resource, struct err *err);
    bool (*resolve)(struct spec_engine *engine, const char *kind, struct resource *out, struct err *err);
    bool (*add_rule)(struct spec_engine *engine, const struct spec_fault_options *rule, struct err *err);
    /* Returns whether it exists, and no request met it. */
    bool (*rule_is_unmet)(struct spec_engine *engine, int id);
    void (*clear_rules)(struct spec_engine *engine);
    /* Newer ones come first; all is copied. */
    void (*add_answer)(struct spec_engine *engine, const struct spec_response *answer);
    /* `kind` "": all. */
    bool (*end_watches)(struct spec_engine *engine, const char *kind, bool expire, struct err *err);
    /* Calls a command of k8s.command, and moves the clock on while it waits, ten minutes at most. */
    bool (*call)(struct spec_engine *engine, const char *name, const char *const *args, size_t count,
                 struct spec_call_result *result, struct err *err);
    /* Asks the rules about what they look at. Appends an array of JSON with what they say, as `-o json` of
     * audits has it, by severity, rule and object. */
    bool (*audit)(struct spec_engine *engine, const struct spec_audit *audit, struct buf *out,
                  struct err *err);
    /* False when a rule of the scripts takes not all of the parameters. */
    bool (*check_params)(struct spec_engine *engine, struct err *err);
    /* Sets the wall time at which a recording begins. */
    bool (*recording_begin_us)(const char *path, int64_t *begin_us, struct err *err);
    /* Puts the first lists of a recording into the cluster; the rest of it comes by replay_play. */
    bool (*replay_begin)(struct spec_engine *engine, const char *path, struct err *err);
    /* At the recorded times, `speed` times as fast. False, when all of it was played that can be, with what
     * could not be read or stored. */
    bool (*replay_play)(struct spec_engine *engine, double speed, struct replay_counts *counts,
                        struct err *err);
    /* False when the script takes part in no election. */
    bool (*lead)(struct spec_engine *engine, bool leads);
};
