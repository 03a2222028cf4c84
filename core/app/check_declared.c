/* Reads and writes that a script makes and does not declare; see check.h. Which calls are made is known when
 * they are made, so the text is searched for the functions' names. */
#include <stdlib.h>
#include <string.h>

#include "app/check.h"
#include "base/mem.h"
#include "script/bundle.h"
#include "script/reads.h"
#include "script/writes.h"

struct function {
    const char *name; /* k8s.NAME */
    unsigned verb;    /* that it needs */
    const char *verb_name, *declared_by;
};

static const struct function reading[] = {
    {"get", READ_GET, "get", "k8s.reads"},
    {"list", READ_LIST, "list", "k8s.reads"},
    {"pages", READ_LIST, "list", "k8s.reads"},
    {"watch", READ_WATCH, "watch", "k8s.reads"},
};

static const struct function writing[] = {
    {"create", WRITE_CREATE, "create", "k8s.writes"}, {"update", WRITE_UPDATE, "update", "k8s.writes"},
    {"patch", WRITE_PATCH, "patch", "k8s.writes"},    {"apply", WRITE_APPLY, "apply", "k8s.writes"},
    {"delete", WRITE_DELETE, "delete", "k8s.writes"},
};

/* "pods:list", "*:*" */
static unsigned declared_reads(const struct script *script)
{
    unsigned verbs = 0;
    for (size_t i = 0; i < script_read_count(script); i++) {
        const char *verb = strrchr(script_read(script, i), ':') + 1;
        for (size_t f = 0; f < ARRAY_LEN(reading); f++)
            if (strcmp(verb, "*") == 0 || strcmp(verb, reading[f].verb_name) == 0) verbs |= reading[f].verb;
    }
    return verbs;
}

static unsigned declared_writes(const struct script *script)
{
    unsigned verbs = 0;
    for (size_t i = 0; i < script_write_count(script); i++) verbs |= script_write_parts(script, i)->verbs;
    return verbs;
}

/* In the first of the script's files that has it. */
static void check_function(const struct script *script, const struct function *function, unsigned declared,
                           struct findings *findings)
{
    const struct bundle *bundle = script_bundle(script);
    if (declared & function->verb) return;
    char *call = xasprintf("k8s.%s", function->name);
    struct place at = {0};
    for (size_t i = 0; i < bundle_count(bundle) && !at.line; i++)
        at = find_place(NULL, bundle_path(bundle, i), call);
    if (at.line)
        findings_add(findings, at.file, at.line, true, "%s will raise: %s declares no \"...:%s\"", call,
                     function->declared_by, function->verb_name);
    free(call);
}

void check_declared(const struct script *script, struct findings *findings)
{
    unsigned reads = declared_reads(script), writes = declared_writes(script);
    for (size_t i = 0; i < ARRAY_LEN(reading); i++) check_function(script, &reading[i], reads, findings);
    for (size_t i = 0; i < ARRAY_LEN(writing); i++) check_function(script, &writing[i], writes, findings);
}
