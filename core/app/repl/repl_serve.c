/* `kubelua repl --engine` at the engine: sessions, each with a Lua state and a connection of its own, which
 * read the caches of the scripts; see repl_serve.h. All is on the engine thread: while a script does not
 * return, prompts wait too. A line of a prompt has the CPU that main has, in brief pieces: handlers have
 * their turn between two of them. */
#include "app/repl/repl_serve.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "app/repl/repl_protocol.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "base/time/piece_meter.h"
#include "engine/engine_view.h"

enum { READ_BLOCK = 4096 };
/* A piece of a session's end: one step of the collector looks at all views, behind what it did before. */
enum { END_PIECE_US = PIECE_BRIEF_US / 4 };

struct repl_session {
    TAILQ_ENTRY(repl_session) link;
    struct repl_sessions *all;
    struct repl *repl;
    int fd;
    int64_t pid, since_us;
    ev_io readable, writable;
    struct timer go_on; /* there are more lines, or this is over */
    struct buf in, out;
    size_t sent; /* of `out` */
    struct tape_parser *parser;
    struct piece_meter meter; /* of its time on the engine thread */
    int64_t id;               /* of the evaluation */
    bool flooded;             /* it wrote more than may wait */
    bool lost;                /* nobody is there any more */
    bool ends;                /* it is freed in pieces */
};

struct repl_sessions {
    struct engine *engine;
    TAILQ_HEAD(session_list, repl_session) list, ending;
    size_t count;
};

static void session_free(struct repl_session *s)
{
    struct ev_loop *ev = loop_ev(engine_loop(s->all->engine));
    TAILQ_REMOVE(s->ends ? &s->all->ending : &s->all->list, s, link);
    s->all->count--;
    ev_io_stop(ev, &s->readable);
    ev_io_stop(ev, &s->writable);
    timer_cancel(&s->go_on);
    piece_begin(&s->meter);
    piece_enter(&s->meter, "the state's end");
    repl_free(s->repl);
    piece_end(&s->meter);
    close(s->fd);
    buf_clear(&s->in);
    buf_clear(&s->out);
    tape_parser_free(s->parser);
    log_info("REPL session ended", FI("pid", s->pid), FI("cpuMicroseconds", s->meter.cpu_ns / 1000),
             FI("longestMicroseconds", s->meter.longest_ns / 1000),
             FI("longestPreempted", s->meter.longest_preempted), FI("pieces", s->meter.pieces));
    free(s);
}

static void go_on_soon(struct repl_session *s)
{
    if (!timer_running(&s->go_on)) timer_start(&s->go_on, loop_clock(engine_loop(s->all->engine)), 0);
}

/* A piece of its end, as of a line: what it holds is freed between turns of others. */
static void end_piece(struct repl_session *s)
{
    bool ended = false;
    piece_begin(&s->meter);
    piece_enter(&s->meter, "the end of a line");
    while (!ended && !piece_has_had(&s->meter, END_PIECE_US)) ended = repl_end_step(s->repl);
    piece_end(&s->meter);
    if (ended)
        session_free(s);
    else
        go_on_soon(s);
}

static void session_end(struct repl_session *s)
{
    struct ev_loop *ev = loop_ev(engine_loop(s->all->engine));
    TAILQ_REMOVE(&s->all->list, s, link);
    TAILQ_INSERT_TAIL(&s->all->ending, s, link);
    s->ends = true;
    ev_io_stop(ev, &s->readable);
    ev_io_stop(ev, &s->writable);
    go_on_soon(s);
}

/* --- to the prompt */

/* As much as the connection takes. Perhaps from inside a call into Lua: what is over ends later. */
static void flush(struct repl_session *s)
{
    struct ev_loop *ev = loop_ev(engine_loop(s->all->engine));
    while (!s->lost && s->sent < s->out.len) {
        ssize_t n = send(s->fd, s->out.data + s->sent, s->out.len - s->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            ev_io_start(ev, &s->writable);
            return;
        }
        if (n < 0) {
            s->lost = true;
            repl_interrupt(s->repl);
            go_on_soon(s);
            return;
        }
        s->sent += (size_t)n;
    }
    s->out.len = s->sent = 0;
    ev_io_stop(ev, &s->writable);
}

/* `result` is JSON. */
static void send_line(struct repl_session *s, struct buf *result)
{
    if (s->sent > s->out.len / 2) {
        buf_consume(&s->out, s->sent);
        s->sent = 0;
    }
    admin_result_write(buf_slice(result), &s->out);
    buf_clear(result);
    flush(s);
}

static bool has_room(const struct repl_session *s, size_t more)
{
    return s->out.len - s->sent + more <= REPL_OUTPUT_MAX;
}

static void on_print(void *ctx, struct str line)
{
    struct repl_session *s = ctx;
    struct buf out = {0};
    if (s->lost || s->flooded) return;
    if (!has_room(s, line.n)) {
        s->flooded = true;
        repl_interrupt(s->repl);
        return;
    }
    json_open(&out, NULL, '{');
    json_str(&out, "print", line);
    json_close(&out, '}');
    send_line(s, &out);
}

static void send_end(struct repl_session *s, enum repl_end end, struct str text)
{
    struct buf out = {0};
    json_open(&out, NULL, '{');
    json_int(&out, "id", s->id);
    json_text(&out, "end", repl_end_names[end]);
    json_str(&out, "text", text);
    json_close(&out, '}');
    send_line(s, &out);
}

static void on_end(void *ctx, enum repl_end end, struct str text)
{
    struct repl_session *s = ctx;
    struct buf flood = {0};
    if (!has_room(s, text.n)) s->flooded = true;
    buf_printf(&flood, "the client does not read its output (over %d MiB buffered)", REPL_OUTPUT_MAX >> 20);
    if (s->flooded)
        send_end(s, REPL_FAILED, buf_slice(&flood));
    else
        send_end(s, end, text);
    buf_clear(&flood);
    go_on_soon(s);
}

/* The last word; what does not fit into the connection is lost. */
static void send_over(struct repl_session *s, const char *why)
{
    admin_error_write(why, &s->out);
    flush(s);
}

/* --- from the prompt */

static void eval(struct repl_session *s, const struct tape *tape, size_t params)
{
    struct repl_style style = {
        .width = (size_t)tape_int(tape, tape_field(tape, params, STR("width")), 0),
        .colours = tape_bool(tape, tape_field(tape, params, STR("colours")), false),
        .hides_secrets = tape_bool(tape, tape_field(tape, params, STR("hidesSecrets")), false),
    };
    s->id = tape_int(tape, tape_field(tape, params, STR("id")), 0);
    s->flooded = false;
    repl_eval(s->repl, tape_str(tape, tape_field(tape, params, STR("text"))), &style);
}

static void complete(struct repl_session *s, const struct tape *tape, size_t params)
{
    size_t start;
    struct buf names = {0}, out = {0};
    repl_complete(s->repl, tape_str(tape, tape_field(tape, params, STR("text"))), &start, &names);
    if (!has_room(s, names.len)) names.len = 0;
    json_open(&out, NULL, '{');
    json_int(&out, "id", tape_int(tape, tape_field(tape, params, STR("id")), 0));
    json_int(&out, "start", (int64_t)start);
    json_open(&out, "names", '[');
    for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
        json_text(&out, NULL, names.data + at);
    json_close(&out, ']');
    json_close(&out, '}');
    buf_clear(&names);
    send_line(s, &out);
}

/* `line` has room for its padding. False: that is no prompt. */
static bool take_line(struct repl_session *s, struct buf *line)
{
    struct err err;
    struct tape tape;
    struct admin_request request;
    if (!admin_request_parse(s->parser, buf_slice(line), &request, &err)) {
        send_over(s, err.text);
        return false;
    }
    memset(buf_reserve(line, TAPE_PADDING), 0, TAPE_PADDING);
    size_t params = admin_params_parse(s->parser, line, &tape, &err);
    if (strcmp(request.method, "cancel") == 0) {
        repl_cancel(s->repl);
    } else if (strcmp(request.method, "complete") == 0) {
        complete(s, &tape, params);
    } else if (strcmp(request.method, "eval") == 0 && !repl_is_busy(s->repl)) {
        eval(s, &tape, params);
    } else {
        send_over(s, "expected one eval at a time, complete or cancel");
        return false;
    }
    return true;
}

/* One in a turn of the loop: others have theirs. False: the session is over. */
static bool take_next(struct repl_session *s)
{
    const char *end = s->in.len ? memchr(s->in.data, '\n', s->in.len) : NULL;
    struct buf line = {0};
    if (!has_room(s, 0)) { /* for the answer: until the prompt reads */
        ev_io_stop(loop_ev(engine_loop(s->all->engine)), &s->readable);
        return true;
    }
    if (!end) {
        if (s->in.len <= ADMIN_REQUEST_MAX) return true;
        send_over(s, "the request exceeds 64 KiB");
        return false;
    }
    size_t len = (size_t)(end - s->in.data);
    buf_append(&line, s->in.data, len);
    buf_consume(&s->in, len + 1);
    bool ok = take_line(s, &line);
    buf_clear(&line);
    if (ok && s->in.len && memchr(s->in.data, '\n', s->in.len)) go_on_soon(s);
    return ok;
}

static void on_go_on(struct timer *timer)
{
    struct repl_session *s = container_of(timer, struct repl_session, go_on);
    if (s->ends)
        end_piece(s);
    else if (s->lost || !take_next(s))
        session_end(s);
}

/* Nothing more is read while lines wait. */
static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    struct repl_session *s = container_of(io, struct repl_session, readable);
    if (timer_running(&s->go_on)) return;
    ssize_t n = recv(s->fd, buf_reserve(&s->in, READ_BLOCK), READ_BLOCK, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) s->in.len += (size_t)n;
    if (n <= 0 || !take_next(s)) session_end(s);
}

static void on_writable(struct ev_loop *ev, ev_io *io, int events)
{
    struct repl_session *s = container_of(io, struct repl_session, writable);
    flush(s);
    if (!has_room(s, 0) || ev_is_active(&s->readable)) return;
    ev_io_start(ev, &s->readable);
    go_on_soon(s);
}

/* --- begin and end */

static int64_t peer_pid(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : 0;
}

static struct repl_session *session_new(struct repl_sessions *all, struct err *err)
{
    struct engine *engine = all->engine;
    struct repl_session *s = NEW(struct repl_session);
    s->meter.of = "prompt";
    piece_begin(&s->meter);
    piece_enter(&s->meter, "a new state");
    s->repl = repl_new(engine_host(engine), REPL_SHARED_CACHES,
                       &(struct repl_ops){.printed = on_print, .ended = on_end, .ctx = s}, err);
    piece_end(&s->meter);
    if (!s->repl) {
        free(s);
        return NULL;
    }
    repl_be_brief(s->repl, &s->meter);
    s->all = all;
    s->since_us = clock_wall_us(loop_clock(engine_loop(engine)));
    s->parser = tape_parser_new();
    s->go_on.fn = on_go_on;
    TAILQ_INSERT_TAIL(&all->list, s, link);
    all->count++;
    return s;
}

static void connect_to(struct repl_session *s, int fd)
{
    struct buf out = {0};
    s->fd = fd;
    s->pid = peer_pid(fd);
    ev_io_init(&s->readable, on_readable, fd, EV_READ);
    ev_io_init(&s->writable, on_writable, fd, EV_WRITE);
    ev_io_start(loop_ev(engine_loop(s->all->engine)), &s->readable);
    log_info("REPL session started", FI("pid", s->pid));
    json_open(&out, NULL, '{');
    json_text(&out, "server", cluster_server(engine_cluster(s->all->engine)));
    json_int(&out, "pid", getpid());
    json_close(&out, '}');
    send_line(s, &out);
}

struct repl_sessions *repl_sessions_new(struct engine *engine)
{
    struct repl_sessions *all = NEW(struct repl_sessions);
    all->engine = engine;
    TAILQ_INIT(&all->list);
    TAILQ_INIT(&all->ending);
    return all;
}

void repl_sessions_begin(void *ctx, struct admin_call *call)
{
    struct err err;
    struct repl_sessions *all = ctx;
    const struct engine *engine = all->engine;
    bool ends = engine_is_ending(engine), full = all->count == REPL_SESSIONS_MAX;
    if (ends) err_set(&err, ERR_CLOSED, "the engine is shutting down");
    if (full) err_set(&err, ERR_LIMIT, "too many REPL sessions (maximum %d)", REPL_SESSIONS_MAX);
    struct repl_session *s = ends || full ? NULL : session_new(all, &err);
    if (s)
        connect_to(s, admin_call_take_connection(call));
    else
        admin_call_fail(call, err.text);
}

void repl_sessions_claims_changed(struct repl_sessions *all)
{
    struct repl_session *s;
    TAILQ_FOREACH (s, &all->list, link) repl_claims_changed(s->repl);
}

void repl_sessions_put(void *ctx, struct buf *out)
{
    const struct repl_sessions *all = ctx;
    const struct repl_session *s;
    json_open(out, "prompts", '[');
    TAILQ_FOREACH (s, &all->list, link) {
        json_open(out, NULL, '{');
        json_int(out, "pid", s->pid);
        json_time(out, "since", s->since_us);
        json_bool(out, "busy", repl_is_busy(s->repl));
        json_int(out, "memoryBytes", (int64_t)repl_memory(s->repl));
        json_close(out, '}');
    }
    json_close(out, ']');
}

void repl_sessions_end(struct repl_sessions *all)
{
    struct repl_session *s;
    while ((s = TAILQ_FIRST(&all->list))) {
        repl_cancel(s->repl);
        send_over(s, "the engine is shutting down");
        session_free(s);
    }
    while ((s = TAILQ_FIRST(&all->ending))) session_free(s);
}

void repl_sessions_free(struct repl_sessions *all)
{
    if (!all) return;
    repl_sessions_end(all);
    free(all);
}
