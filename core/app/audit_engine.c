/* Asking an engine for an audit of its caches; see audit_engine.h and audit_protocol.h. */
#include "app/audit_engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/admin_protocol.h"
#include "app/audit_order.h"
#include "app/audit_protocol.h"
#include "app/audit_scripts.h"
#include "app/dry_host.h"
#include "app/unix_socket.h"
#include "audit/stream.h"
#include "base/mem.h"
#include "script/bundle.h"

enum { TIMEOUT_MS = 10000, READ_BLOCK = 64 << 10, MS_PER_S = 1000, TIMEOUT_MAX_H = 10000 };

struct child {
    int64_t pid;
    int fd; /* -1: at its end */
    struct audit_stream *stream;
    bool is_broken; /* what came is no stream */
    bool has_ended;
    int status; /* as waitpid gives it */
};

struct asking {
    const struct audit_request *request;
    struct audit_table *table;
    int fd;
    struct buf in; /* from the engine, with padding behind it */
    size_t used;   /* of it */
    struct tape_parser *parser;
    struct tape tape;
    struct child children[AUDIT_CHILDREN_MAX];
    size_t count;
    int fds[AUDIT_CHILDREN_MAX]; /* that came and belong to nobody yet */
    size_t fd_count;
    int64_t pause_ns;
    bool closed; /* by the engine */
    struct err first_trouble;
    bool has_trouble;
};

/* --- flags */

const struct flag *audit_engine_flags(struct audit_request *request)
{
    static struct flag table[6];
    struct audit_engine_flags *flags = &request->engine;
    *flags = (struct audit_engine_flags){.timeout_ms = 300000, .child_memory = 512 << 20};
    const struct flag all[] = {
        {"engine", 0, FLAG_BOOL, &flags->asked, NULL, NULL,
         "the caches of a running engine instead of a cluster; without -f by the rules of its own scripts"},
        {"admin-socket", 0, FLAG_STRING, &request->options.admin_socket, "PATH", NULL,
         "the engine's (default $XDG_RUNTIME_DIR/kubelua.sock, as root /run/kubelua.sock)"},
        {"children", 0, FLAG_COUNT, &flags->children, "N", NULL,
         "processes that it forks, at most 8 (default one for each core)"},
        {"timeout", 0, FLAG_DURATION_MS, &flags->timeout_ms, "DURATION", NULL,
         "of each of them; 0 for none (default 5m)"},
        {"child-memory", 0, FLAG_SIZE, &flags->child_memory, "SIZE", NULL,
         "that each may need beyond what it shares with the engine; 0 for any (default 512Mi)"},
    };
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

/* --- rules */

/* They are loaded here first: mistakes are told before an engine is asked, and what they require is known. */
static bool load(const struct audit_request *request, struct audit_order *order, struct err *err)
{
    struct audit_scripts scripts = {0};
    struct dry_host dry;
    dry_host_open(&dry);
    audit_scripts_give(request, &dry.host);
    bool ok = audit_scripts_load(&scripts, request, &dry.host, err);
    order->scripts = xcalloc(scripts.count + 1, sizeof *order->scripts);
    for (size_t i = 0; ok && i < scripts.count; i++) {
        const struct script *script = scripts.items[i];
        order->scripts[order->script_count++] = (struct audit_order_script){
            xstrdup(script_name(script)), xstrdup(script_path(script)), bundle_ref(script_bundle(script))};
    }
    audit_scripts_close(&scripts);
    dry_host_close(&dry);
    return ok;
}

static char **copy_list(const struct flag_list *list)
{
    char **copy = xcalloc(list->count + 1, sizeof *copy);
    for (size_t i = 0; i < list->count; i++) copy[i] = xstrdup(list->items[i]);
    return copy;
}

/* A copy, as the order owns what it has. */
static struct rule_params *copy_params(const struct rule_params *params)
{
    struct rule_params *copy = rule_params_new();
    for (size_t i = 0; i < rule_params_count(params); i++) {
        const struct rule_param_given given = rule_params_at(params, i);
        rule_params_put(copy, &given);
    }
    return copy;
}

static bool check_timeout(const struct audit_request *request, struct err *err)
{
    const int64_t hour_ms = 3600 * (int64_t)MS_PER_S;
    return request->engine.timeout_ms <= TIMEOUT_MAX_H * hour_ms ||
           err_set(err, ERR_INVALID, "--timeout is at most %dh; 0 is for none", TIMEOUT_MAX_H);
}

/* A descriptor; -1 with an error. */
static int make_order(const struct asking *a, struct err *err)
{
    const struct audit_request *request = a->request;
    const struct options *options = &request->options;
    const char *ns = options->all_namespaces ? NULL : options->cluster.namespace_;
    struct audit_order order = {
        .namespace_ = xstrdup(ns ? ns : ""),
        .now_s = time(NULL),
        .timeout_s = (request->engine.timeout_ms + MS_PER_S - 1) / MS_PER_S,
        .memory_bytes = (int64_t)request->engine.child_memory,
        .fixes = request->fix,
        .passes = audit_table_keeps_passes(a->table),
        .is_own = request->files.count == 0,
        .limits = options->script_limits,
        .params = copy_params(request->options.rule_params),
        .trusted = copy_list(&options->trusted),
        .trusted_count = options->trusted.count,
        .lua_path = copy_list(&options->lua_path),
        .lua_path_count = options->lua_path.count,
    };
    bool ok = check_timeout(request, err) && (order.is_own || load(request, &order, err));
    int fd = ok ? audit_order_write(&order, err) : -1;
    audit_order_clear(&order);
    return fd;
}

/* --- lines of the engine */

static void keep_fds(struct asking *a, const struct msghdr *message)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return;
    size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
        if (a->fd_count < ARRAY_LEN(a->fds))
            a->fds[a->fd_count++] = fd;
        else
            close(fd);
    }
}

/* False at the end, or when nothing came in time. */
static bool receive(struct asking *a, struct err *err)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(AUDIT_CHILDREN_MAX * sizeof(int))];
    } control = {0};
    struct iovec bytes = {buf_reserve(&a->in, READ_BLOCK), READ_BLOCK};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do n = recvmsg(a->fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return err_set(err, ERR_TIMEOUT, "the engine did not answer within %d s", TIMEOUT_MS / MS_PER_S);
    a->closed = n <= 0;
    if (n <= 0) return err_set(err, ERR_CLOSED, "the engine stopped before the audit was done");
    a->in.len += (size_t)n;
    keep_fds(a, &message);
    return true;
}

/* Puts the next line that is there onto the tape. 0 when there is none; with an error when that is what the
 * engine says. Its result's place. */
static size_t next_line(struct asking *a, struct err *err)
{
    memset(buf_reserve(&a->in, TAPE_PADDING), 0, TAPE_PADDING);
    size_t left = a->in.len - a->used;
    const char *line = a->in.data + a->used, *end = left ? memchr(line, '\n', left) : NULL;
    err_clear(err);
    if (!end) return 0;
    a->used += (size_t)(end - line) + 1;
    return admin_reply_parse(a->parser, (struct str){line, (size_t)(end - line)}, &a->tape, err);
}

/* Waits for it. */
static size_t await_line(struct asking *a, struct err *err)
{
    size_t at = 0;
    do at = next_line(a, err);
    while (!at && err->code == ERR_NONE && receive(a, err));
    return at;
}

static int64_t number_of(const struct asking *a, size_t at, struct str name)
{
    return tape_int(&a->tape, tape_field(&a->tape, at, name), -1);
}

static void take_ended(struct asking *a, size_t at)
{
    int64_t which = number_of(a, at, STR("child"));
    if (which < 0 || which >= (int64_t)a->count) return;
    a->children[which].has_ended = true;
    a->children[which].status = (int)number_of(a, at, STR("status"));
}

/* --- what children find */

static void on_print(void *ctx, struct str line)
{
    fprintf(stderr, "%.*s\n", STR_ARG(line));
}

static void on_trouble(void *ctx, struct str text)
{
    struct asking *a = ctx;
    if (!a->has_trouble) err_set(&a->first_trouble, ERR_SCRIPT, "%.*s", STR_ARG(text));
    a->has_trouble = true;
    fprintf(stderr, "kubelua audit: %.*s\n", STR_ARG(text));
}

static void close_stream(struct child *child)
{
    if (child->fd >= 0) close(child->fd);
    child->fd = -1;
}

static void read_stream(struct child *child)
{
    char bytes[READ_BLOCK];
    struct err err;
    ssize_t n = read(child->fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) return;
    if (n > 0 && audit_stream_take(child->stream, (struct str){bytes, (size_t)n}, &err)) return;
    child->is_broken = n > 0;
    close_stream(child);
}

/* What the engine says meanwhile; what comes from the children does not depend on that. */
static void hear(struct asking *a)
{
    struct err err;
    size_t at;
    receive(a, &err);
    while ((at = next_line(a, &err))) take_ended(a, at);
    if (err.code != ERR_NONE) fprintf(stderr, "kubelua audit: %s\n", err.text);
    a->closed |= err.code != ERR_NONE;
}

/* Until all have ended and all that they wrote was read. */
static void read_all(struct asking *a)
{
    for (;;) {
        struct pollfd polls[AUDIT_CHILDREN_MAX + 1] = {{a->closed ? -1 : a->fd, POLLIN, 0}};
        bool open = !a->closed;
        for (size_t i = 0; i < a->count; i++) {
            polls[i + 1] = (struct pollfd){a->children[i].fd, POLLIN, 0};
            open |= a->children[i].fd >= 0;
        }
        if (!open) return;
        if (poll(polls, a->count + 1, -1) < 0) continue;
        for (size_t i = 0; i < a->count; i++)
            if (polls[i + 1].revents) read_stream(&a->children[i]);
        if (polls[0].revents) hear(a);
    }
}

/* --- how it ended */

static void put_end(const struct asking *a, const struct child *child, struct buf *out)
{
    char duration[32];
    if (child->is_broken)
        buf_puts(out, "wrote what cannot be read");
    else if (!child->has_ended)
        buf_puts(out, "is not known to have ended: the engine stopped");
    else if (WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGALRM) {
        snprintf(duration, sizeof duration, "%gs", (double)a->request->engine.timeout_ms / MS_PER_S);
        buf_printf(out, "took longer than --timeout (%s)", duration);
    } else if (WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGABRT)
        buf_puts(out, "was aborted, as when it needs more than --child-memory; the engine's stderr says why");
    else if (WIFSIGNALED(child->status))
        buf_printf(out, "was killed by SIG%s", sigabbrev_np(WTERMSIG(child->status)));
    else
        buf_printf(out, "ended with %d", WEXITSTATUS(child->status));
}

static bool tell_end(const struct asking *a)
{
    bool whole = true;
    for (size_t i = 0; i < a->count; i++) {
        const struct child *child = &a->children[i];
        struct buf text = {0};
        if (audit_stream_is_whole(child->stream) && !child->is_broken) continue;
        whole = false;
        put_end(a, child, &text);
        fprintf(stderr, "kubelua audit: child %lld (%zu of %zu) %s: the result is incomplete\n",
                (long long)child->pid, i + 1, a->count, buf_text(&text));
        buf_clear(&text);
    }
    return whole;
}

static bool any_has_begun(const struct asking *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (audit_stream_has_begun(a->children[i].stream)) return true;
    return false;
}

static enum audit_end end_of(const struct asking *a, struct err *err)
{
    if (!any_has_begun(a) && a->has_trouble) {
        *err = a->first_trouble;
        return AUDIT_FAILED;
    }
    return tell_end(a) && !a->has_trouble ? AUDIT_WHOLE : AUDIT_INCOMPLETE;
}

/* --- begin */

static bool send_question(struct asking *a, struct err *err)
{
    struct buf line = {0};
    char params[64];
    snprintf(params, sizeof params, "{\"children\":%d}", a->request->engine.children);
    admin_request_write("audit", params, &line);
    bool ok = send(a->fd, line.data, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
    buf_clear(&line);
    return (ok || err_set(err, ERR_CLOSED, "the engine stopped")) && await_line(a, err);
}

static bool send_order(struct asking *a, int order, struct err *err)
{
    char byte = 'a';
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.head), &order, sizeof order);
    return sendmsg(a->fd, &message, MSG_NOSIGNAL) == 1 || err_set(err, ERR_CLOSED, "the engine stopped");
}

static bool take_begun(struct asking *a, size_t at, struct err *err)
{
    const struct audit_stream_sink sink = {
        .table = a->table, .print = on_print, .trouble = on_trouble, .ctx = a};
    size_t pids = tape_field(&a->tape, at, STR("pids"));
    a->pause_ns = number_of(a, at, STR("pauseNs"));
    for (size_t v = pids ? tape_first(&a->tape, pids, NULL) : 0; v && a->count < a->fd_count;
         v = tape_next(&a->tape, pids, v, NULL)) {
        a->children[a->count] = (struct child){
            .pid = tape_int(&a->tape, v, 0), .fd = a->fds[a->count], .stream = audit_stream_new(&sink)};
        a->count++;
    }
    return a->count > 0 || err_set(err, ERR_PARSE, "the engine sent no children");
}

static bool begin(struct asking *a, int order, struct err *err)
{
    size_t at = 0;
    if (!send_question(a, err) || !send_order(a, order, err) || !(at = await_line(a, err))) return false;
    return take_begun(a, at, err);
}

static void end(struct asking *a)
{
    for (size_t i = 0; i < a->count; i++) {
        close_stream(&a->children[i]);
        audit_stream_free(a->children[i].stream);
    }
    for (size_t i = a->count; i < a->fd_count; i++) close(a->fds[i]);
    if (a->fd >= 0) close(a->fd);
    tape_parser_free(a->parser);
    buf_clear(&a->in);
}

void audit_engine_tell(const struct audit_engine_facts *facts, const struct audit_table *table)
{
    fprintf(stderr, "kubelua audit: %zu objects by %zu %s; the engine paused for %.1f ms\n",
            audit_table_totals(table).looked_at, facts->children, facts->children == 1 ? "child" : "children",
            (double)facts->pause_ns / 1e6);
}

enum audit_end audit_engine(const struct audit_request *request, struct audit_table *table,
                            struct audit_engine_facts *facts, struct err *err)
{
    struct asking a = {.request = request, .table = table, .fd = -1};
    enum audit_end result = AUDIT_FAILED;
    int order = make_order(&a, err);
    if (order < 0) return AUDIT_FAILED;
    a.parser = tape_parser_new();
    char *path = unix_socket_choose_path(request->options.admin_socket, err);
    if (path) a.fd = unix_socket_connect(path, TIMEOUT_MS, err);
    bool ok = a.fd >= 0 && (begin(&a, order, err) || err_wrap(err, "%s", path));
    if (ok) {
        read_all(&a);
        result = end_of(&a, err);
        *facts = (struct audit_engine_facts){a.count, a.pause_ns};
    }
    free(path);
    close(order);
    end(&a);
    return result;
}
