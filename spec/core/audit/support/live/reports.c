/* See reports.h. */
#include "core/audit/support/live/reports.h"

#include <string.h>

static void on_changed(void *ctx, struct str ns)
{
    struct world *w = ctx;
    if (w->writer) policy_writer_changed(w->writer, ns);
}

static struct continuous_walk *walk(void *ctx, struct str ns)
{
    struct world *w = ctx;
    return continuous_walk_new(w->f.audit, ns);
}

static void look(void *ctx, struct policy_outlook *out)
{
    struct world *w = ctx;
    out->pending = continuous_status(w->f.audit).pending;
    out->waiting = w->waiting;
    out->refused = w->refused;
}

static void on_list(void *ctx, bool of_cluster)
{
    struct world *w = ctx;
    (void)of_cluster;
    w->lists++;
}

static void on_write(void *ctx, const struct policy_write *write, struct policy_write_call *flight)
{
    struct world *w = ctx;
    assert_true(w->flight_count < SENT_MAX);
    w->flights[w->flight_count++] = flight;
    buf_printf(&w->log, "%s %s/%s\n", write->body.p ? "apply" : "delete", write->ns, write->name);
    if (!write->body.p) return;
    w->applies++;
    if (write->body.n > w->largest) w->largest = write->body.n;
    buf_str(&w->bodies, write->body);
    buf_putc(&w->bodies, '\n');
}

static void on_cancel(void *ctx)
{
    struct world *w = ctx;
    w->flight_count = 0;
    w->cancelled = true;
}

/* Each look at the time takes a third of a millisecond: a slice has four looks. */
static int64_t slow_ns(void)
{
    static int64_t spent_ns;
    return spent_ns += 300000;
}

void reports_begin(struct world *w, struct cluster *c, const char *pods, size_t max_reports)
{
    *w = (struct world){.waiting = "", .refused = ""};
    live_changed = on_changed;
    live_changed_ctx = w;
    w->f = live_begin(c, REPORTS_RULES("bad"));
    w->writer = policy_writer_new(&(const struct policy_writer_options){.clock = &c->clock.clock,
                                                                        .api = &policy_api_wgpolicy,
                                                                        .name = "kubelua-audit",
                                                                        .instance = "kubelua",
                                                                        .max_reports = max_reports,
                                                                        .walk = walk,
                                                                        .observe = look,
                                                                        .list = on_list,
                                                                        .write = on_write,
                                                                        .cancel = on_cancel,
                                                                        .ctx = w,
                                                                        .now_ns = slow_ns});
    policy_writer_set_active(w->writer, true);
    cluster_list(c, 0, pods);
    live_settle(&w->f);
}

void reports_end(struct world *w)
{
    policy_writer_free(w->writer);
    w->writer = NULL;
    live_changed = NULL;
    live_end(&w->f);
    buf_clear(&w->log);
    buf_clear(&w->bodies);
}

void reports_listed(struct world *w, const struct err *err)
{
    policy_writer_listed(w->writer, false, err);
    policy_writer_listed(w->writer, true, err);
}

void reports_answer(struct world *w, const struct err *err)
{
    while (w->flight_count) policy_writer_wrote(w->writer, w->flights[--w->flight_count], err);
}

/* Each write is answered at once. */
void reports_advance(struct world *w, int64_t ms)
{
    for (int64_t i = 0; i < ms; i += 100) {
        virtual_clock_advance(&w->f.c->clock, 100);
        reports_answer(w, NULL);
    }
}

void reports_change(struct world *w, enum lw_event_type type, const char *pod)
{
    cluster_event(w->f.c, 0, type, pod);
    cluster_settle(w->f.c);
    reports_advance(w, 100);
}

void reports_assert_says(struct world *w, const char *part)
{
    if (!strstr(buf_text(&w->bodies), part)) fail_msg("\"%s\" is missing in: %s", part, buf_text(&w->bodies));
    w->bodies.len = 0;
}

size_t reports_count(struct world *w, const char *part)
{
    size_t count = 0;
    for (const char *p = buf_text(&w->bodies); (p = strstr(p, part)); p += strlen(part)) count++;
    return count;
}
