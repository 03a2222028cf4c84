/* A large file, audited by several processes; see audit_of_files_internal.h and audit_workers.h. */
#include "app/audit/audit_of_files_internal.h"

#include "app/options/cores.h"
#include "object/pack/pool.h"

/* The pool of the command would count no references here. */
static void become_worker(void *ctx, struct audit_worker *worker)
{
    struct offline *offline = ctx;
    offline->worker = worker;
    offline->pool = pool_new(NULL);
    offline->packer = packer_new(offline->pool);
    offline->input.packer = offline->packer;
    offline->input.share = NULL;
    offline->input.progress = NULL;
    offline->dry.host.hooks.print = audit_worker_print;
    offline->dry.host.hooks.ctx = worker;
}

static void on_added(void *ctx, size_t objects, size_t elsewhere, uint64_t place)
{
    struct offline *offline = ctx;
    offline->read += objects;
    offline->elsewhere += elsewhere;
    offline->input.progress(ctx, offline->shared->before + place, offline->shared->total);
}

static void on_print(void *ctx, struct str line)
{
    const struct offline *offline = ctx;
    offline->dry.host.hooks.print(offline->dry.host.hooks.ctx, line);
}

static void on_run(void *ctx, const struct audit_unmatched_run *run)
{
    struct offline *offline = ctx;
    audit_unmatched_note(&offline->unmatched, run->api_version, run->kind, offline->shared->file, run->line);
    offline->unmatched.count += run->count - 1;
}

static void on_type(void *ctx, struct str api_version, struct str kind)
{
    offline_wants(ctx, api_version, kind);
}

size_t offline_share(void *ctx, struct input_share *share, uint64_t *lines)
{
    struct offline *offline = ctx;
    offline->shared = share;
    int given = offline->request->engine.children;
    const struct audit_workers_options options = {.count = given > 0 ? (size_t)given : cores_usable(),
                                                  .sink = {.table = offline->table,
                                                           .file = share->file,
                                                           .print = on_print,
                                                           .unmatched = on_run,
                                                           .type = on_type,
                                                           .ctx = offline},
                                                  .become = become_worker,
                                                  .added = on_added,
                                                  .ctx = offline};
    return audit_workers_read(&options, share, lines);
}
