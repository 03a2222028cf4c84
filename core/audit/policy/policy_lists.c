/* Lists the reports in the cluster that this writer, or one before it, has left there; see
 * policy_writer.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_writer_internal.h"
#include "base/log.h"

/* --- when */

static void forget_seen(struct policy_writer *writer, bool of_cluster)
{
    struct policy_namespace *space, *next;
    HASH_ITER (hh, writer->spaces, space, next)
        for (size_t i = 0; !*space->ns == of_cluster && i < space->part_count; i++)
            space->parts[i].seen = false;
}

void policy_list(struct policy_writer *writer, int64_t now_ms)
{
    for (size_t i = 0; i < ARRAY_LEN(writer->scopes); i++) {
        struct policy_scope *scope = &writer->scopes[i];
        if (scope->listing || now_ms < scope->list_at_ms) continue;
        if (i == 1 && writer->options.cluster_when_needed && !policy_namespace_find(writer, STR("")))
            continue;
        scope->listing = true;
        forget_seen(writer, i == 1);
        writer->options.list(writer->options.ctx, i == 1);
    }
}

/* --- what they find */

/* "kubelua-audit-3" is part 2; -1 for what is no name of ours. */
static long part_of(const struct policy_writer *writer, struct str name)
{
    char *end, digits[8] = "";
    size_t len = strlen(writer->name);
    if (name.n < len || memcmp(name.p, writer->name, len) != 0) return -1;
    if (name.n == len) return 0;
    if (name.p[len] != '-' || name.n - len - 1 >= sizeof digits) return -1;
    memcpy(digits, name.p + len + 1, name.n - len - 1);
    long part = strtol(digits, &end, 10);
    return *end == '\0' && part > 1 && part <= POLICY_PARTS_MAX ? part - 1 : -1;
}

void policy_writer_found(struct policy_writer *writer, struct str ns, struct str name, struct str content)
{
    long number = part_of(writer, name);
    if (number < 0) return;
    struct policy_namespace *space = policy_namespace_get(writer, ns);
    struct known_part *part = policy_namespace_part(space, (size_t)number);
    policy_namespace_set_part(writer, part, true);
    part->seen = true;
    if (content.n == POLICY_CONTENT_SIZE - 1)
        memcpy(part->content, content.p, content.n);
    else
        *part->content = '\0';
}

/* Marks reports that were not listed as missing, and compares all namespaces once: an earlier process may
 * have written about objects that are gone. */
static void settle(struct policy_writer *writer, bool of_cluster)
{
    struct policy_namespace *space, *next;
    HASH_ITER (hh, writer->spaces, space, next) {
        if (!*space->ns != of_cluster) continue;
        for (size_t i = 0; i < space->part_count; i++) {
            struct known_part *part = &space->parts[i];
            if (!part->seen) policy_namespace_set_part(writer, part, false);
        }
        policy_namespace_wait(writer, space);
    }
}

/* --- how they end */

static const char *message_of(const struct err *err)
{
    return err->http_status == 404   ? "Policy reports are not written because their CRD is not installed, "
                                       "retrying; use --report=metrics to disable them"
           : err->http_status == 403 ? "Policy reports are not written because listing them is forbidden, "
                                       "retrying; see kubelua rbac --report"
                                     : "Failed to list policy reports, retrying";
}

static const char *plural_of(const struct policy_writer *writer, const struct policy_scope *scope)
{
    bool of_cluster = scope == &writer->scopes[1];
    return of_cluster ? writer->options.api->cluster_plural : writer->options.api->plural;
}

/* Logs a failed list, once if both scopes fail alike. */
static void list_failed(struct policy_writer *writer, struct policy_scope *scope, const struct err *err)
{
    const struct policy_api *api = writer->options.api;
    const struct policy_scope *other = &writer->scopes[scope == writer->scopes];
    scope->retry_ms = scope->retry_ms ? scope->retry_ms * 2 : POLICY_LIST_RETRY_MS;
    if (scope->retry_ms > POLICY_RETRY_MAX_MS) scope->retry_ms = POLICY_RETRY_MAX_MS;
    scope->list_at_ms = clock_now_ms(writer->options.clock) + scope->retry_ms;
    scope->err = *err;
    if (scope->logged) return;
    scope->logged = true;
    if (other->logged && other->err.http_status == err->http_status) return;
    log_warn(message_of(err), F("resource", plural_of(writer, scope)), F("group", api->group),
             F("version", api->version), F("err", err->text));
}

void policy_writer_listed(struct policy_writer *writer, bool of_cluster, const struct err *err)
{
    struct policy_scope *scope = &writer->scopes[of_cluster];
    scope->listing = false;
    if (err) {
        list_failed(writer, scope, err);
        return;
    }
    if (scope->logged) log_info("Policy reports can be written", F("resource", plural_of(writer, scope)));
    scope->logged = false;
    scope->retry_ms = 0;
    scope->list_at_ms = clock_now_ms(writer->options.clock) + POLICY_LIST_MS;
    scope->listed = true;
    err_clear(&scope->err);
    settle(writer, of_cluster);
}
