/* Namespaces of a reflector; see followed.h. Versions are compared (RV-1): everything that the watch brought
 * before a namespace joined was written before the list of it began, and that list is of the newest state. So
 * only events since then must be held, and of these the newer ones count. */
#include "informer/reflect/followed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/reflect/held_events.h"
#include "kube/kinds/resource.h"

enum followed_state {
    FOLLOWED_DUE,     /* not in the cache, and not being listed yet */
    FOLLOWED_JOINING, /* being listed */
    FOLLOWED_IN,      /* in the cache, or part of the list in progress */
};

struct followed_namespace {
    UT_hash_handle hh;
    struct followed *followed;
    enum followed_state state;
    void *list;              /* while joining */
    struct held_events held; /* while joining: its events */
    struct buf floor;        /* version of its own list: older events are known; empty: none */
    char name[];
};

struct followed {
    struct followed_options options;
    char *name;
    struct followed_namespace *namespaces;
    _Atomic size_t count, joining;
    bool listed;        /* a list was queued */
    bool watching;      /* and no other has begun since */
    struct buf version; /* newest `floor` */
};

struct followed *followed_new(const struct followed_options *options)
{
    struct followed *f = NEW(struct followed);
    f->options = *options;
    f->name = xstrdup(options->name);
    return f;
}

static struct followed_namespace *find(const struct followed *f, struct str ns)
{
    struct followed_namespace *found;
    HASH_FIND(hh, f->namespaces, ns.p ? ns.p : "", ns.n, found);
    return found;
}

static struct followed_namespace *find_of(const struct followed *f, const struct root *object)
{
    struct text text;
    return find(f, root_namespace(object, &text));
}

static void show(struct followed *f)
{
    f->count = HASH_COUNT(f->namespaces);
    f->options.changed(f->options.ctx);
}

struct followed_counts followed_count(const struct followed *f)
{
    return (struct followed_counts){f->count, f->joining};
}

static void end_join(struct followed_namespace *n)
{
    struct followed *f = n->followed;
    if (n->state != FOLLOWED_JOINING) return;
    f->options.end_list(f->options.ctx, n->list);
    n->list = NULL;
    held_events_clear(&n->held);
    f->joining--;
}

static void remove_namespace(struct followed_namespace *n)
{
    struct followed *f = n->followed;
    end_join(n);
    HASH_DEL(f->namespaces, n);
    buf_clear(&n->floor);
    free(n);
}

void followed_stop(struct followed *f)
{
    struct followed_namespace *n, *next;
    HASH_ITER (hh, f->namespaces, n, next) remove_namespace(n);
}

void followed_free(struct followed *f)
{
    if (!f) return;
    must(!f->namespaces);
    buf_clear(&f->version);
    free(f->name);
    free(f);
}

/* --- joins */

static void start_due(struct followed *f);

static bool is_of(const void *ns, const struct root *object)
{
    struct text text;
    return str_is(root_namespace(object, &text), ((const struct followed_namespace *)ns)->name);
}

static void note_version(struct followed *f, struct str version)
{
    if (f->version.len && !version_may_be_newer(version, buf_slice(&f->version))) return;
    f->version.len = 0;
    buf_str(&f->version, version);
}

void followed_listed(struct followed_namespace *n, struct collection *listed, struct str version)
{
    struct followed *f = n->followed;
    struct collection merged = {0};
    if (!resource_version_check(version, NULL)) {
        /* Nothing tells which of its events the list has: one list of all is right in any case. */
        end_join(n);
        n->state = FOLLOWED_DUE;
        f->options.relist(f->options.ctx);
        return;
    }
    merged.refused = listed->refused;
    listed->refused = NULL;
    for (size_t i = 0; i < listed->used; i++)
        if (is_of(n, listed->objects[i])) collection_put(&merged, root_ref(listed->objects[i]));
    held_events_merge(&n->held, version, is_of, n, &merged);
    log_v(2, "Namespace joined", F("reflector", f->name), F("namespace", n->name),
          FI("objects", collection_count(&merged)), FI("held", held_events_count(&n->held)),
          FS("resourceVersion", version));
    collection_replace_part(&merged, f->options.fifo, n->name, clock_wall_us(f->options.clock));
    n->floor.len = 0;
    buf_str(&n->floor, version);
    note_version(f, version);
    end_join(n);
    n->state = FOLLOWED_IN;
    start_due(f);
    show(f);
}

static void start_join(struct followed_namespace *n)
{
    struct followed *f = n->followed;
    n->state = FOLLOWED_JOINING;
    f->joining++;
    n->list = f->options.start_list(f->options.ctx, n, n->name);
}

static void start_due(struct followed *f)
{
    struct followed_namespace *n, *next;
    if (!f->watching) return;
    HASH_ITER (hh, f->namespaces, n, next) {
        if (f->joining >= FOLLOWED_JOINS_MAX) return;
        if (n->state == FOLLOWED_DUE) start_join(n);
    }
}

void followed_join(struct followed *f, const char *ns)
{
    if (find(f, str_of(ns))) return;
    struct followed_namespace *n = xcalloc(1, sizeof *n + strlen(ns) + 1);
    n->followed = f;
    strcpy(n->name, ns);
    HASH_ADD_KEYPTR(hh, f->namespaces, n->name, strlen(ns), n);
    start_due(f);
    show(f);
}

void followed_leave(struct followed *f, const char *ns)
{
    struct followed_namespace *n = find(f, str_of(ns));
    if (!n) return;
    /* A list in progress may have it, and the cache of the one before too. */
    bool cached = n->state == FOLLOWED_IN && f->listed;
    if (cached) delta_fifo_replace_part(f->options.fifo, ns, NULL, 0, NULL, clock_wall_us(f->options.clock));
    remove_namespace(n);
    start_due(f);
    show(f);
}

bool followed_admits(void *followed, struct str ns)
{
    const struct followed_namespace *n = find(followed, ns);
    return n && n->state != FOLLOWED_DUE;
}

/* --- of the reflector */

void followed_list_begins(struct followed *f)
{
    struct followed_namespace *n, *next;
    f->watching = false;
    HASH_ITER (hh, f->namespaces, n, next) {
        end_join(n);
        n->state = FOLLOWED_IN;
        n->floor.len = 0;
    }
    show(f);
}

static bool is_in(const void *ctx, const struct root *object)
{
    const struct followed_namespace *n = find_of(ctx, object);
    return n && n->state == FOLLOWED_IN;
}

void followed_filter(const struct followed *f, struct collection *objects)
{
    collection_filter(objects, is_in, f);
}

void followed_watch_runs(struct followed *f)
{
    f->listed = f->watching = true;
    start_due(f);
    show(f);
}

bool followed_takes(struct followed *f, enum lw_event_type type, struct root *object)
{
    struct followed_namespace *n = find_of(f, object);
    struct text text;
    if (n && n->state == FOLLOWED_JOINING) {
        held_events_add(&n->held, type, object);
        return true;
    }
    if (n && n->state == FOLLOWED_IN &&
        (!n->floor.len || version_may_be_newer(root_resource_version(object, &text), buf_slice(&n->floor))))
        return false;
    root_unref(object);
    return true;
}

const char *followed_version(struct followed *f)
{
    return buf_text(&f->version);
}
