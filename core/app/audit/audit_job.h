/* Audit job that `kubelua audit --engine` sends to the engine's children: the sources of the rules, which
 * need not be on the engine's disk, and how to evaluate them. It is a memory file whose descriptor goes
 * through the admin socket: the engine passes it on unread. Owner: as each function says. The command writes
 * it, a child reads it; both have one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/rules/suppression_limits.h"
#include "base/buf.h"
#include "base/err.h"
#include "engine/reload/script_files.h"
#include "script/vm/limits.h"

struct bundle;
struct params;
struct engine_settings;

enum { AUDIT_JOB_MAX = 64 << 20 };

struct audit_job_script {
    char *name, *path;
    struct bundle *bundle;
};

struct audit_job {
    char *namespace_; /* "": the engine's default */
    char *selector;   /* of labels; "": all */
    int64_t now_s;    /* since 1970 */
    int64_t timeout_s, memory_bytes;
    int nice;
    bool passes;
    bool is_own; /* the rules of the engine's scripts are meant: what follows is not read */
    struct limits limits;
    struct suppression_limits suppression;
    struct params *params; /* NULL: none */
    char **trusted, **lua_path;
    size_t trusted_count, lua_path_count;
    struct audit_job_script *scripts;
    size_t script_count;
};

/* Returns the descriptor of a memory file; -1 and sets err to ERR_IO, or ERR_LIMIT for sources over 64
 * MiB. */
int audit_job_write(const struct audit_job *order, struct err *err);
/* Fills `*order`, which audit_job_clear frees. ERR_IO, or ERR_PARSE when another version wrote it. */
bool audit_job_read(int fd, struct audit_job *order, struct err *err);
/* Frees what it points at; bundles by a reference. */
void audit_job_clear(struct audit_job *order);
/* The settings borrow from the order. */
void audit_job_give(const struct audit_job *order, struct engine_settings *settings);
