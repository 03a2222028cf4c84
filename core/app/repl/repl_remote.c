/* A prompt on a running engine, by its admin socket; see repl_backend.h and repl_protocol.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "app/repl/repl_backend.h"
#include "app/repl/repl_protocol.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "net/unix_socket.h"

enum {
    TIMEOUT_MS = 10000,          /* for the beginning, and for the engine to read what is sent */
    COMPLETE_MS = 2000,          /* whoever presses Tab waits no longer */
    INTERRUPT_TIMEOUT_MS = 1000, /* after a ^C; the next one ends it */
    READ_BLOCK = 64 << 10,
};

struct remote {
    struct repl_backend base;
    int fd, wake;  /* `wake` is written by the signal handler */
    struct buf in; /* what came, with padding behind it */
    size_t used;   /* of it: up to the end of the line that is on the tape */
    struct tape_parser *parser;
    struct tape tape;
    bool closed;     /* by the engine: what came before counts still */
    int64_t last_id; /* the number of the last request */
};

static struct remote *remote_of(struct repl_backend *backend)
{
    return container_of(backend, struct remote, base);
}

static bool is_lost(const struct remote *r)
{
    return r->base.lost.code != ERR_NONE;
}

static void lose(struct remote *r, const char *why)
{
    if (!is_lost(r)) err_set(&r->base.lost, ERR_CLOSED, "%s", why);
}

/* --- lines */

/* Puts the next line that is there onto the tape; 0: there is none. Its result's place. */
static size_t next_line(struct remote *r)
{
    struct err err;
    size_t left = r->in.len - r->used;
    const char *line = r->in.data + r->used, *end = left ? memchr(line, '\n', left) : NULL;
    if (!end) {
        buf_consume(&r->in, r->used);
        r->used = 0;
        if (r->closed) lose(r, "the engine closed the connection");
        return 0;
    }
    r->used += (size_t)(end - line) + 1;
    size_t at = admin_reply_parse(r->parser, (struct str){line, (size_t)(end - line)}, &r->tape, &err);
    if (!at) lose(r, err.text);
    return at;
}

static void receive(struct remote *r)
{
    ssize_t n = recv(r->fd, buf_reserve(&r->in, READ_BLOCK), READ_BLOCK, MSG_DONTWAIT);
    if (n > 0) r->in.len += (size_t)n;
    memset(buf_reserve(&r->in, TAPE_PADDING), 0, TAPE_PADDING);
    r->closed = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Nothing can be sent any more: the engine may have said why. */
static void receive_rest(struct remote *r)
{
    receive(r);
    r->closed = true;
    while (next_line(r)) continue;
}

/* The engine reads even while it runs a line, but not while a script holds it up. */
static bool send_request(struct remote *r, const char *method, const char *params)
{
    struct buf line = {0};
    admin_request_write(method, params, &line);
    bool fits = line.len <= ADMIN_REQUEST_MAX;
    for (size_t sent = 0; fits && sent < line.len && !is_lost(r);) {
        ssize_t n = send(r->fd, line.data + sent, line.len - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            lose(r, "the engine does not respond");
        else if (errno != EINTR)
            receive_rest(r);
    }
    buf_clear(&line);
    return fits;
}

static struct str text_of(const struct remote *r, size_t at, const char *name)
{
    return tape_str(&r->tape, tape_field(&r->tape, at, str_of(name)));
}

static int64_t number_of(const struct remote *r, size_t at, const char *name)
{
    return tape_int(&r->tape, tape_field(&r->tape, at, str_of(name)), 0);
}

/* The next line, or 0: the time is over, ^C came, or the engine is lost. `wait_ms` -1: any time. */
static size_t await_line(struct remote *r, int64_t wait_ms)
{
    int64_t end_ms = wait_ms < 0 ? INT64_MAX : clock_now_ms(clock_real()) + wait_ms;
    for (;;) {
        size_t at = next_line(r);
        if (at || is_lost(r)) return at;
        int64_t left_ms = wait_ms < 0 ? -1 : end_ms - clock_now_ms(clock_real());
        if (wait_ms >= 0 && left_ms <= 0) return 0;
        fflush(stdout); /* what was printed is seen while the line waits */
        struct pollfd both[] = {{.fd = r->fd, .events = POLLIN}, {.fd = r->wake, .events = POLLIN}};
        if (poll(both, 2, (int)left_ms) < 0 && errno != EINTR) lose(r, strerror(errno));
        if (both[0].revents) receive(r);
        if (both[1].revents) return 0;
    }
}

/* True when ^C came, once. */
static bool take_wake(struct remote *r)
{
    uint64_t count;
    return read(r->wake, &count, sizeof count) == sizeof count;
}

/* --- what a prompt asks */

static void put_request(struct remote *r, struct str text, const struct repl_style *style, struct buf *out)
{
    json_open(out, NULL, '{');
    json_int(out, "id", ++r->last_id);
    json_str(out, "text", text);
    if (style) {
        json_int(out, "width", (int64_t)style->width);
        json_bool(out, "colours", style->colours);
        json_bool(out, "hidesSecrets", style->hides_secrets);
    }
    json_close(out, '}');
}

static void print(const struct remote *r, struct str line)
{
    if (r->base.print)
        r->base.print(r->base.print_ctx, line);
    else
        repl_backend_print(line);
}

/* True when it was the end of what was asked last. */
static bool take_part(struct remote *r, size_t at, enum repl_end *end, struct buf *result)
{
    struct str name = text_of(r, at, "end");
    if (tape_field(&r->tape, at, STR("print"))) print(r, text_of(r, at, "print"));
    if (!name.n || number_of(r, at, "id") != r->last_id) return false;
    for (size_t i = 0; i < ARRAY_LEN(repl_end_names); i++)
        if (str_is(name, repl_end_names[i])) *end = (enum repl_end)i;
    buf_str(result, text_of(r, at, "text"));
    return true;
}

/* The first ^C ends the evaluation; the engine may be held up by a script, then another one ends the wait. */
static void pass_on_interrupt(struct remote *r, int64_t *interrupted_ms)
{
    int64_t now_ms = clock_now_ms(clock_real());
    if (!take_wake(r)) return;
    if (!*interrupted_ms)
        send_request(r, "cancel", NULL);
    else if (now_ms - *interrupted_ms >= INTERRUPT_TIMEOUT_MS)
        lose(r, "the engine does not respond");
    if (!*interrupted_ms) *interrupted_ms = now_ms;
}

static enum repl_end eval(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *result)
{
    struct remote *r = remote_of(backend);
    struct buf request = {0};
    enum repl_end end = REPL_FAILED;
    int64_t interrupted_ms = 0;
    put_request(r, text, style, &request);
    bool fits = send_request(r, "eval", buf_text(&request));
    buf_clear(&request);
    if (!fits) buf_printf(result, "a line must not exceed %d KiB", ADMIN_REQUEST_MAX >> 10);
    while (fits && !is_lost(r)) {
        size_t at = await_line(r, -1);
        if (at && take_part(r, at, &end, result)) break;
        if (!at) pass_on_interrupt(r, &interrupted_ms);
    }
    return end;
}

static void take_names(const struct remote *r, size_t at, size_t *start, struct buf *names)
{
    size_t list = tape_field(&r->tape, at, STR("names"));
    *start = (size_t)number_of(r, at, "start");
    for (size_t v = list ? tape_first(&r->tape, list, NULL) : 0; v; v = tape_next(&r->tape, list, v, NULL)) {
        buf_str(names, tape_str(&r->tape, v));
        buf_putc(names, '\0');
    }
}

static void complete(struct repl_backend *backend, struct str text, size_t *start, struct buf *names)
{
    struct remote *r = remote_of(backend);
    struct buf request = {0};
    size_t at = 0;
    int64_t end_ms = clock_now_ms(clock_real()) + COMPLETE_MS;
    *start = text.n;
    put_request(r, text, NULL, &request);
    bool fits = send_request(r, "complete", buf_text(&request));
    buf_clear(&request);
    if (!fits) return;
    do at = await_line(r, end_ms - clock_now_ms(clock_real()));
    while (at && number_of(r, at, "id") != r->last_id);
    if (at) take_names(r, at, start, names);
    if (*start > text.n) *start = text.n;
}

/* Waits for input. Meanwhile the engine sends nothing except that it ends. */
static void await_input(struct repl_backend *backend)
{
    struct remote *r = remote_of(backend);
    struct pollfd all[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = r->fd, .events = POLLIN},
                           {.fd = r->wake, .events = POLLIN}};
    while (!is_lost(r)) {
        if (poll(all, 3, -1) < 0 && errno != EINTR) lose(r, strerror(errno));
        if (all[1].revents) receive(r);
        while (next_line(r)) continue;
        if (all[2].revents) take_wake(r);
        if (all[0].revents || all[2].revents) return;
    }
}

/* In a signal handler. */
static void interrupt(struct repl_backend *backend)
{
    const uint64_t one = 1;
    int before = errno;
    (void)!write(remote_of(backend)->wake, &one, sizeof one);
    errno = before;
}

/* --- start and stop */

static void remote_free(struct repl_backend *backend)
{
    struct remote *r = remote_of(backend);
    if (r->fd >= 0) close(r->fd);
    if (r->wake >= 0) close(r->wake);
    buf_clear(&r->in);
    tape_parser_free(r->parser);
    free(r);
}

/* Begins the session: reads the engine's first message. */
static bool begin(struct remote *r, struct buf *where, struct err *err)
{
    send_request(r, "repl", NULL);
    size_t at = is_lost(r) ? 0 : await_line(r, TIMEOUT_MS);
    if (!at && !is_lost(r)) lose(r, "the engine did not respond within 10 s");
    if (!at) {
        *err = r->base.lost;
        return false;
    }
    buf_printf(where, "%.*s, caches of the engine %lld", STR_ARG(text_of(r, at, "server")),
               (long long)number_of(r, at, "pid"));
    return true;
}

struct repl_backend *repl_remote_new(const char *path, struct buf *where, struct err *err)
{
    char *chosen = unix_socket_choose_path(path, err);
    if (!chosen) return NULL;
    struct remote *r = NEW(struct remote);
    r->base = (struct repl_backend){
        .eval = eval, .complete = complete, .wait = await_input, .interrupt = interrupt, .free = remote_free};
    r->parser = tape_parser_new();
    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->fd = unix_socket_connect(chosen, TIMEOUT_MS, err);
    bool ok = r->fd >= 0;
    if (ok && !begin(r, where, err)) ok = err_wrap(err, "%s", chosen);
    free(chosen);
    if (ok) return &r->base;
    remote_free(&r->base);
    return NULL;
}
