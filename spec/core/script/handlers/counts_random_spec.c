/* Counts that handlers keep by `old` and `new` alone: over adds, updates, deletes, new lists, resyncs,
 * debounce, backlogs, filters and reloads they are right at any call, and at rest equal to a recount (I-8).
 * The real queue, informer and handlers of a script, a virtual clock. SEED repeats a run, ROUNDS makes it
 * longer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "informer/shared/shared_factory_internal.h"
#include "script/generation/handover.h"
#include "script/handlers/handler.h"

enum { KEYS = 5, APPS = 4, STEPS = 250, ROUNDS = 60, MARK = 4, FIFO_MARK = 6 };

/* What each generation begins with: ANEW and CODE are numbers. A handler that is told anew, after a reload
 * with another ANEW, begins to count anew; CODE is a constant of its code. */
static const char head[] =
    "local k8s, ANEW, REPLAY = require 'k8s', '%d', '%s'\n"
    "if REPLAY ~= '' then k8s.on_reload { replay = REPLAY } end\n"
    "local pods = k8s.informer 'pods'\n"
    "local told, count = k8s.state('told' .. ANEW), k8s.state('count' .. ANEW)\n"
    "local passes, extra = {}, nil\n"
    "wrong = ''\n"
    "local function content(o) return o:label 'app' .. o:label 'v' .. o:uid() end\n"
    "local function app(id, o) return id .. ' ' .. o:label 'app' end\n"
    "local function tell(id, what, o, before, after)\n"
    "  local at, was = id .. ' ' .. o:name(), before and content(before)\n"
    "  if told[at] ~= was then\n"
    "    wrong = wrong .. ('%%s%%s: told of %%s, old is %%s; '):format(what, at, told[at], was)\n"
    "  end\n"
    "  told[at] = after and content(after)\n"
    "  if before then count[app(id, before)] = count[app(id, before)] - 1 end\n"
    "  if after then count[app(id, after)] = (count[app(id, after)] or 0) + 1 end\n"
    "end\n"
    "local function handler(id, options, naps)\n"
    "  local function nap(o)\n"
    "    local ms = naps and tonumber(o:label 'v') * 7 %% 13 or 0\n"
    "    if ms > 3 then k8s.sleep(ms / 1000) end\n"
    "    if ms == 5 then error 'it was told all the same' end\n"
    "  end\n"
    "  passes[id], options.id = options.passes or function() return true end, id\n"
    "  options.passes = nil\n"
    "  options.OnAdd = function(o) local code = %d tell(id, '+', o, nil, o) nap(o) end\n"
    "  options.OnUpdate = function(a, o) tell(id, '=', o, a, o) nap(o) end\n"
    "  options.OnDelete = function(o, ev) tell(id, '-', o, ev.previous or o, nil) nap(o) end\n"
    "  return pods:add_event_handler(options)\n"
    "end\n";

static const char handlers[] =
    "local function ab(o) return o:label 'app' == 'a' or o:label 'app' == 'b' end\n"
    "local where = { ['metadata.labels.app'] = { 'a', 'b' } }\n"
    "handler('plain', {})\n"
    "handler('debounced', { debounce = '20ms' })\n"
    "handler('slow', {}, true)\n"
    "handler('wide', { concurrency = 3 }, true)\n"
    "handler('wide-debounced', { concurrency = 2, debounce = '15ms' }, true)\n"
    "handler('filtered', { where = where, passes = ab }, true)\n"
    "handler('filtered-debounced', { filter = ab, passes = ab, debounce = '10ms' }, true)\n"
    "handler('split', { split_recreated = true }, true)\n"
    "handler('all', { split_recreated = true, unchanged = true, resync = '1s', debounce = '10ms' })\n"
    "handler('resynced', { unchanged = true, resync = '1s' }, true)\n"
    "function renew()\n" /* one that comes and goes */
    "  if extra then extra:remove() end\n"
    "  for _, kept in ipairs { told, count } do\n"
    "    for at in pairs(kept) do if at:find '^extra ' then kept[at] = nil end end\n"
    "  end\n"
    "  extra = handler('extra', {}, true)\n"
    "end\n"
    "function recount()\n"
    "  local counts, states = {}, {}\n"
    "  for id, pass in pairs(passes) do\n"
    "    for o in pods:lister():list() do\n"
    "      if pass(o) then\n"
    "        counts[app(id, o)] = (counts[app(id, o)] or 0) + 1\n"
    "        states[id .. ' ' .. o:name()] = content(o)\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "  for at, n in pairs(count) do\n"
    "    if passes[at:match '^%S+'] and n ~= (counts[at] or 0) then\n"
    "      wrong = wrong .. ('%s counts %d, there are %d; '):format(at, n, counts[at] or 0)\n"
    "    end\n"
    "  end\n"
    "  for at, state in pairs(states) do\n"
    "    if told[at] ~= state then wrong = wrong .. ('%s is %s, told %s; '):format(at, state, told[at]) end\n"
    "  end\n"
    "  return wrong, pods:lister():count()\n"
    "end\n";

struct state {
    int uid, app, content; /* no uid: it is not there */
};

struct world {
    struct cluster *c;
    struct script *script, *old; /* the one before it, whose calls may still wait */
    struct delta_fifo *fifo;
    struct key {
        struct state state;
        struct root *object;
    } keys[KEYS];
    int version, uid, anew, code;
    int64_t tick_ms;
    size_t joined, most; /* reloads that handed events over, and the most that waited at once */
};

/* --- objects */

static struct root *pack(struct world *w, int key, const struct state *state)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"k%d\",\"uid\":\"u%d\","
               "\"resourceVersion\":\"%d\",\"labels\":{\"app\":\"%c\",\"v\":\"%d\"}}}",
               key, state->uid, ++w->version, 'a' + state->app, state->content);
    memset(buf_reserve(&json, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(w->c->packer, json.data, json.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&json);
    return root;
}

static struct state new_state(struct world *w, int uid)
{
    return (struct state){.uid = uid, .app = rand() % APPS, .content = w->version};
}

static void set_truth(struct world *w, int key, struct state state)
{
    struct key *k = &w->keys[key];
    root_unref(k->object);
    k->state = state;
    k->object = state.uid ? pack(w, key, &state) : NULL;
}

/* --- what happens */

/* The same name may be another object, and the last state one that no update told of; or the same, of another
 * version: a server gives each delete one. */
static void change(struct world *w)
{
    int key = rand() % KEYS;
    struct state before = w->keys[key].state;
    if (before.uid && rand() % 3 == 0) {
        const struct state last = rand() % 2 ? before : new_state(w, before.uid);
        delta_fifo_add(w->fifo, DELTA_DELETED, pack(w, key, &last), 1);
        set_truth(w, key, (struct state){0});
        return;
    }
    set_truth(w, key, new_state(w, before.uid && rand() % 5 ? before.uid : ++w->uid));
    delta_fifo_add(w->fifo, before.uid ? DELTA_UPDATED : DELTA_ADDED, root_ref(w->keys[key].object), 1);
}

/* Changes that nobody saw, and a list with what is there. */
static void list_again(struct world *w)
{
    struct root **list = xcalloc(KEYS, sizeof *list);
    size_t count = 0;
    char version[32];
    for (int key = 0; key < KEYS; key++) {
        int what = rand() % 4, uid = w->keys[key].state.uid;
        if (what == 0) set_truth(w, key, (struct state){0});
        if (what == 1) set_truth(w, key, new_state(w, uid && rand() % 2 ? uid : ++w->uid));
        if (w->keys[key].object) list[count++] = root_ref(w->keys[key].object);
    }
    snprintf(version, sizeof version, "%d", ++w->version);
    delta_fifo_replace(w->fifo, version, list, count, NULL, 1);
}

static void advance(struct world *w, int ms)
{
    cluster_settle(w->c);
    virtual_clock_advance(&w->c->clock, ms);
}

/* --- generations */

static void shrink_lists(struct script *script)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) h->pending.mark = MARK;
}

static struct script *prepare(struct world *w, const char *replay)
{
    char path[96];
    struct err err;
    snprintf(path, sizeof path, "%s/counts.lua", w->c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, head, w->anew, replay, w->code);
    fputs(handlers, file);
    fclose(file);
    const struct script_source source = {.path = path,
                                         .name = "unit",
                                         .generation = w->script ? script_generation(w->script) + 1 : 1,
                                         .before = w->script};
    struct script *script = script_prepare(&w->c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(w->c, script);
    shrink_lists(script);
    return script;
}

static void check(struct world *w)
{
    const char *wrong = cluster_ask(w->c, w->script, "return wrong");
    if (*wrong) fail_msg("%s", wrong);
}

/* Handlers go on where they were, or are told anew as their code is another or they all are. */
static void reload(struct world *w)
{
    struct handover done;
    struct err err;
    const char *replay = rand() % 2 ? "" : rand() % 2 ? "all" : "none";
    bool new_code = rand() % 2;
    check(w);
    w->code += new_code;
    w->anew += *replay ? *replay == 'a' : new_code;
    struct script *script = prepare(w, replay);
    cluster_resolve(w->c);
    assert_int_equal(script_lagging_claims(w->script, script, NULL), 0);
    w->joined += script_pending_events(w->script) > 0;
    if (!script_handover(w->script, script, &done, &err)) fail_msg("%s", err.text);
    script_free(w->old); /* calls of it that still wait are cancelled: they were told all the same */
    w->old = w->script;
    w->script = script;
    if (rand() % 3 == 0) {
        script_free(w->old);
        w->old = NULL;
    }
}

static void come_and_go(struct world *w)
{
    assert_ask(w->c, w->script, "renew()", "nil");
    handlers_attach(w->script); /* as after each call of a script */
    shrink_lists(w->script);
}

/* --- rounds */

static void begin(struct world *w)
{
    w->script = prepare(w, "");
    struct err err;
    if (!script_start(w->script, &err)) fail_msg("%s", err.text);
    cluster_resolve(w->c);
    w->fifo = shared_informer_fifo(script_claim(w->script, 0)->set->members[0]->informer);
    delta_fifo_set_mark(w->fifo, FIFO_MARK);
    cluster_list(w->c, w->c->source_count - 1, "");
}

static void settle(struct world *w)
{
    do {
        advance(w, 20);
    } while (delta_fifo_len(w->fifo) || script_pending_events(w->script) ||
             (w->old && script_pending_events(w->old)));
    const char *wrong = cluster_ask(w->c, w->script, "local wrong, n = recount() return wrong .. n");
    char there[16];
    int count = 0;
    for (int key = 0; key < KEYS; key++) count += w->keys[key].object != NULL;
    snprintf(there, sizeof there, "%d", count);
    assert_string_equal(wrong, there);
}

static void end(struct world *w)
{
    for (int key = 0; key < KEYS; key++) root_unref(w->keys[key].object);
    script_free(w->old);
    script_free(w->script);
    w->c->source_count = 0;
    cluster_settle(w->c);
}

static void play(struct world *w)
{
    int pace = 1 + rand() % 15, busy = rand() % 3; /* `busy`: the queue is read seldom */
    begin(w);
    for (int i = 0; i < STEPS; i++) {
        int what = rand() % 60;
        if (what == 0) list_again(w);
        if (what == 1) delta_fifo_resync(w->fifo, w->tick_ms += 2000);
        if (what == 2) reload(w);
        if (what == 3) come_and_go(w);
        if (what == 4) settle(w);
        change(w);
        if (rand() % (1 + 4 * busy) == 0) advance(w, rand() % pace);
        size_t waits = script_pending_events(w->script);
        if (waits > w->most) w->most = waits;
    }
    settle(w);
    end(w);
}

static void ignore(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                   const struct log_field *fields)
{
    (void)ctx, (void)level, (void)file, (void)line, (void)msg, (void)fields;
}

static unsigned given(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void test_counts_by_old_and_new_equal_a_recount(void **state)
{
    unsigned seed = given("SEED", (unsigned)time(NULL)), rounds = given("ROUNDS", ROUNDS);
    size_t joined = 0, most = 0;
    (void)state;
    log_capture(ignore, NULL);
    for (unsigned i = 0; i < rounds; i++) {
        struct cluster c;
        printf("SEED=%u\n", seed + i); /* of this round alone */
        fflush(stdout);
        srand(seed + i);
        cluster_init(&c);
        c.host.clock = &c.clock.clock;
        struct world w = {.c = &c, .tick_ms = clock_now_ms(clock_real())};
        play(&w);
        joined += w.joined;
        if (w.most > most) most = w.most;
        cluster_clear(&c);
    }
    log_capture(NULL, NULL);
    assert_true(most > MARK * 4 && joined > 0); /* else it has shown nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_by_old_and_new_equal_a_recount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
