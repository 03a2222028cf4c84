/* Fixes as requests; see audit_apply.h. */
#include "app/audit/audit_apply.h"

#include <stdio.h>
#include <string.h>

#include "audit/fix/fixer_values.h"
#include "base/text/terminal.h"
#include "kube/api/client.h"
#include "kube/api/object_call.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

enum dry_run { DRY_NONE, DRY_CLIENT, DRY_SERVER };

struct applying {
    struct kube_client *client;
    struct audit_fixes *fixes;
    const char *manager;
    enum dry_run dry_run;
    FILE *out;
    struct buf body;
};

static enum dry_run dry_run_of(const struct audit_request *request)
{
    const char *mode = request->options.dry_run;
    return strcmp(mode, "client") == 0 ? DRY_CLIENT : strcmp(mode, "server") == 0 ? DRY_SERVER : DRY_NONE;
}

/* --- a request */

struct apply_response {
    bool has_come;
    struct root *object; /* a reference */
    struct err err;      /* ERR_NONE: it went well */
};

static void on_response(void *ctx, const struct object_response *response)
{
    struct apply_response *own = ctx;
    own->has_come = true;
    own->object = response->object;
    if (response->err) own->err = *response->err;
}

/* A reference, NULL when the response has none. False with an error. */
static bool send(struct applying *applying, const struct object_request *request, struct root **object,
                 struct err *err)
{
    struct apply_response response = {0};
    err_clear(&response.err);
    object_call_start(applying->client, request, on_response, &response);
    while (!response.has_come) loop_once(kube_client_loop(applying->client), true);
    *object = response.object;
    if (response.err.code == ERR_NONE) return true;
    *err = response.err;
    return false;
}

static struct object_place place_of(const struct audit_fix *fix)
{
    return (struct object_place){.resource = &fix->resource, .namespace_ = fix->ns, .name = fix->name};
}

/* Sends the body. `*version` is what the object is of then; it may be empty. */
static bool send_body(struct applying *applying, const struct audit_fix *fix, enum object_verb verb,
                      struct buf *version, struct err *err)
{
    const struct object_request request = {
        .verb = verb,
        .place = place_of(fix),
        .body = buf_slice(&applying->body),
        .patch_type =
            fix->is_strategic ? "application/strategic-merge-patch+json" : "application/merge-patch+json",
        .manager = applying->manager,
        .dry_run = applying->dry_run == DRY_SERVER,
    };
    struct root *object;
    struct text text;
    if (applying->dry_run == DRY_CLIENT) return true;
    if (!send(applying, &request, &object, err)) return false;
    if (object) buf_str(version, root_resource_version(object, &text));
    root_unref(object);
    return true;
}

/* --- a patch */

/* `*how` is what kubectl would say. */
static bool write_patch(struct applying *applying, const struct audit_fix *fix, const char **how,
                        struct err *err)
{
    struct buf version = {0};
    *how = "patched";
    if (!*fix->version)
        return err_set(err, ERR_INVALID,
                       "the object has no resourceVersion, so changes since the audit cannot be detected");
    bool ok =
        fix_lock(kube_client_packer(applying->client), fix, str_of(fix->version), &applying->body, err) &&
        send_body(applying, fix, OBJECT_PATCH, &version, err);
    if (ok && applying->dry_run == DRY_NONE && str_is(buf_slice(&version), fix->version))
        *how = "patched (no change)";
    if (!ok && err->http_status == 409) err_wrap(err, "the object has changed since the audit");
    buf_clear(&version);
    return ok;
}

/* --- a manifest */

/* Returns whether the manager applied the object before: server-side apply then lists it as a field
 * manager. */
static bool is_ours(const struct applying *applying, struct root *object)
{
    struct value metadata = value_field(root_value(object), STR("metadata"));
    struct value entries = value_field(metadata, STR("managedFields"));
    for (size_t i = 0; i < value_count(entries); i++) {
        struct value entry = value_item(entries, i);
        if (value_str_is(value_field(entry, STR("manager")), str_of(applying->manager)) &&
            value_str_is(value_field(entry, STR("operation")), STR("Apply")))
            return true;
    }
    return false;
}

/* Of what is there, the version goes into the body; what is not there is made. */
static bool put_manifest(struct applying *applying, const struct audit_fix *fix, struct err *err)
{
    const struct object_request request = {.place = place_of(fix)};
    struct root *object = NULL;
    struct text text;
    bool there = send(applying, &request, &object, err);
    if (!there && err->http_status != 404) return false;
    bool ok = true;
    if (!there)
        buf_puts(&applying->body, fix->json);
    else if (!is_ours(applying, object))
        ok = err_set(err, ERR_INVALID,
                     "the object already exists and was not applied by field manager %s; inspect it first",
                     applying->manager);
    else
        ok = fix_lock(kube_client_packer(applying->client), fix, root_resource_version(object, &text),
                      &applying->body, err);
    root_unref(object);
    return ok;
}

/* A manifest that has neither name nor namespace has no path. */
static bool check_manifest(const struct audit_fix *fix, struct err *err)
{
    if (fix->is_patched)
        return err_set(err, ERR_INVALID, "the object already exists, and another fix patches it");
    if (!*fix->name) return err_set(err, ERR_INVALID, "the manifest has no metadata.name");
    if (fix->resource.namespaced && !*fix->ns)
        return err_set(err, ERR_INVALID, "the manifest has no metadata.namespace");
    return true;
}

static bool write_manifest(struct applying *applying, const struct audit_fix *fix, const char **how,
                           struct err *err)
{
    struct buf version = {0};
    *how = "serverside-applied";
    bool ok = check_manifest(fix, err) && put_manifest(applying, fix, err) &&
              send_body(applying, fix, OBJECT_APPLY, &version, err);
    buf_clear(&version);
    return ok;
}

/* --- what is told */

static void print_fix(struct applying *applying, const struct audit_fix *fix, const char *how)
{
    static const char *const dry[] = {"", " (dry run)", " (server dry run)"};
    struct buf line = {0}, safe = {0};
    audit_fix_put_object(fix, &line);
    buf_printf(&line, " %s%s # %s%s%s", how, dry[applying->dry_run], fix->ns, *fix->ns ? ": " : "",
               fix->rules);
    terminal_put(&safe, buf_slice(&line));
    fprintf(applying->out, "%s\n", buf_text(&safe));
    fflush(applying->out);
    buf_clear(&line);
    buf_clear(&safe);
}

/* No response is not known to be a no. */
static bool is_invalid(const struct err *err)
{
    return err->http_status == 0 && (err->code == ERR_CLOSED || err->code == ERR_TIMEOUT);
}

static void print_failure(const struct audit_fix *fix, const struct err *err)
{
    struct buf line = {0}, safe = {0};
    audit_fix_put_object(fix, &line);
    if (*fix->ns) buf_printf(&line, " in %s", fix->ns);
    buf_printf(&line, ": %s: not %s%s: %s", fix->rules, is_invalid(err) ? "known to be " : "",
               fix->is_manifest ? "applied" : "patched", err->text);
    terminal_put(&safe, buf_slice(&line));
    fprintf(stderr, "kubelua audit: %s\n", buf_text(&safe));
    buf_clear(&line);
    buf_clear(&safe);
}

static void write_fix(struct applying *applying, const struct audit_fix *fix)
{
    const char *how;
    struct err err;
    bool ok;
    applying->body.len = 0;
    err_clear(&err);
    if (!fix->resource.plural)
        ok = err_set(&err, ERR_NOT_FOUND, "the server has no %s of %s", fix->kind, fix->api_version);
    else
        ok = fix->is_manifest ? write_manifest(applying, fix, &how, &err)
                              : write_patch(applying, fix, &how, &err);
    if (ok) {
        applying->fixes->written++;
        print_fix(applying, fix, how);
    } else {
        applying->fixes->failed++;
        print_failure(fix, &err);
    }
}

/* Applies the fixes. Prints on stderr if a report takes stdout. */
void audit_apply(const struct audit_request *request, struct kube_client *client)
{
    const char *manager = request->options.field_manager;
    struct applying applying = {.client = client,
                                .fixes = request->fixes,
                                .manager = manager ? manager : "kubelua",
                                .dry_run = dry_run_of(request),
                                .out = strcmp(request->output, "table") == 0 ? stdout : stderr};
    for (size_t i = 0; i < request->fixes->count; i++) write_fix(&applying, &request->fixes->items[i]);
    buf_clear(&applying.body);
}

void audit_apply_sum_up(const struct audit_request *request)
{
    const struct audit_fixes *fixes = request->fixes;
    const char *what[] = {"written", "would be applied (dry run)", "applied (server dry run)"};
    fprintf(stderr, "kubelua audit: %zu fix%s %s, %zu failed\n", fixes->written,
            fixes->written == 1 ? "" : "es", what[dry_run_of(request)], fixes->failed);
}
