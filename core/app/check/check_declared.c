/* Reads and writes that a script makes and does not declare; see check.h. Which calls are made is known when
 * they are made, so the text is searched for the functions' names. */
#include <string.h>

#include "app/check/check.h"
#include "app/check/find_call.h"
#include "base/mem.h"
#include "script/server/declared.h"
#include "script/server/reads.h"
#include "script/vm/bundle.h"

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

/* In the script's own file a call is there to be reached. What a module has may be for other scripts, and
 * what is only named may be called in a way that minds an error. */
static void check_function(const struct script *script, const struct function *function, unsigned declared,
                           struct findings *findings)
{
    struct bundle *bundle = script_bundle(script);
    if (declared & function->verb) return;
    for (size_t i = 0; i < bundle_count(bundle); i++) {
        struct str text;
        struct err err;
        if (!bundle_text(bundle, bundle_path(bundle, i), &text, &err)) continue;
        struct call_found found = find_call(text, function->name);
        if (!found.line) continue;
        bool is_sure = i == 0 && found.is_call;
        findings_add(findings, bundle_path(bundle, i), found.line, !is_sure,
                     "k8s.%s raises, as it is declared for no kind: add %s { \"KIND:%s\" }", function->name,
                     function->declared_by, function->verb_name);
        return;
    }
}

void check_declared(const struct script *script, struct findings *findings)
{
    unsigned reads = declared_reads(script), writes = declared_writes(script);
    for (size_t i = 0; i < ARRAY_LEN(reading); i++) check_function(script, &reading[i], reads, findings);
    for (size_t i = 0; i < ARRAY_LEN(writing); i++) check_function(script, &writing[i], writes, findings);
}
