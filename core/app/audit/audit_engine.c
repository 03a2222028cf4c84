/* Client of an audit in a running engine; see audit_engine.h and audit_protocol.h. */
#include "app/audit/audit_engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/audit/audit_job_make.h"
#include "app/audit/audit_session.h"
#include "audit/found/stream.h"
#include "base/cli/progress.h"
#include "base/mem.h"
#include "base/text/terminal.h"
#include "net/unix_socket.h"

enum { READ_BLOCK = 64 << 10, MS_PER_S = 1000 };

struct audit_child {
    int64_t pid;
    int fd; /* -1: at its end */
    struct audit_stream *stream;
    bool is_broken; /* its output is not a valid stream */
    bool has_ended;
    int status; /* status of waitpid */
};

struct audit_client {
    const struct audit_request *request;
    struct audit_table *table;
    struct audit_session session;
    struct audit_child children[AUDIT_CHILDREN_MAX];
    size_t count;
    int64_t pause_ns;
    struct progress progress;
    struct err first_problem;
    bool has_problem;
};

/* --- flags */

const struct flag *audit_engine_flags(struct audit_request *request)
{
    static struct flag table[8];
    struct audit_engine_flags *flags = &request->engine;
    *flags = (struct audit_engine_flags){
        .timeout_ms = 300000, .child_memory = 512 << 20, .nice = AUDIT_NICE_DEFAULT};
    const struct flag all[] = {
        {"engine", 0, FLAG_BOOL, &flags->enabled, NULL, NULL,
         "Audit the caches of a running engine instead of a cluster; without -f, use the rules of its own "
         "scripts"},
        FLAG_ADMIN_SOCKET(&request->options.admin_socket),
        {"show-secrets", 0, FLAG_BOOL, &flags->show_secrets, NULL, NULL,
         "With --engine: report values of the data of Secrets, too"},
        {"children", 0, FLAG_COUNT, &flags->children, "N", NULL,
         "Number of child processes to fork, up to 8 (default one per core); 1 for large files of --from: "
         "none"},
        {"timeout", 0, FLAG_DURATION_MS, &flags->timeout_ms, "DURATION", NULL,
         "Time limit of each child process; 0 for none (default 5m)"},
        {"child-memory", 0, FLAG_SIZE, &flags->child_memory, "SIZE", NULL,
         "Memory limit of each child process, excluding memory shared with the engine; 0 for none (default "
         "512Mi)"},
        {"nice", 0, FLAG_INT, &flags->nice, "N", NULL,
         "Nice value of the child processes, 0 to 19 (default 10)"},
    };
    return flags_fill(table, ARRAY_LEN(table), all, ARRAY_LEN(all));
}

/* --- messages of the engine */

static void take_ended(struct audit_client *a, size_t at)
{
    int64_t which = audit_session_number(&a->session, at, STR("child"));
    if (which < 0 || which >= (int64_t)a->count) return;
    a->children[which].has_ended = true;
    a->children[which].status = (int)audit_session_number(&a->session, at, STR("status"));
}

/* --- output of the children */

/* Prints a line made safe for terminals: scripts of the engine are not the caller's own. */
static void print_safe(struct audit_client *a, const char *head, struct str text)
{
    struct buf safe = {0};
    terminal_put(&safe, text);
    progress_clear(&a->progress);
    fprintf(stderr, "%s%s\n", head, buf_text(&safe));
    buf_clear(&safe);
}

static void on_print(void *ctx, struct str line)
{
    print_safe(ctx, "", line);
}

static void on_problem(void *ctx, struct str text)
{
    struct audit_client *a = ctx;
    if (!a->has_problem) err_set(&a->first_problem, ERR_SCRIPT, "%.*s", STR_ARG(text));
    a->has_problem = true;
    print_safe(a, "kubelua audit: ", text);
}

static void close_stream(struct audit_child *child)
{
    if (child->fd >= 0) close(child->fd);
    child->fd = -1;
}

static void read_stream(struct audit_child *child)
{
    char bytes[READ_BLOCK];
    struct err err;
    ssize_t n = read(child->fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) return;
    if (n > 0 && audit_stream_take(child->stream, (struct str){bytes, (size_t)n}, &err)) return;
    child->is_broken = n > 0;
    close_stream(child);
}

/* Receives messages of the engine. If it stops, the children's output is still complete. */
static void receive(struct audit_client *a)
{
    struct err err;
    size_t at;
    audit_session_receive(&a->session, &err);
    while ((at = audit_session_next(&a->session, &err))) take_ended(a, at);
    if (err.code != ERR_NONE) {
        progress_clear(&a->progress);
        fprintf(stderr, "kubelua audit: %s\n", err.text);
    }
    a->session.closed |= err.code != ERR_NONE;
}

static void show_progress(struct audit_client *a)
{
    size_t total = 0;
    for (size_t i = 0; i < a->count; i++) total += audit_stream_total(a->children[i].stream);
    a->progress.total = total;
    progress_step(&a->progress, audit_table_totals(a->table).audited, -1);
}

/* Reads until all children have ended and their output is complete. */
static void read_all(struct audit_client *a)
{
    for (;;) {
        struct pollfd polls[AUDIT_CHILDREN_MAX + 1] = {{a->session.closed ? -1 : a->session.fd, POLLIN, 0}};
        bool open = !a->session.closed;
        for (size_t i = 0; i < a->count; i++) {
            polls[i + 1] = (struct pollfd){a->children[i].fd, POLLIN, 0};
            open |= a->children[i].fd >= 0;
        }
        if (!open) return;
        if (poll(polls, a->count + 1, -1) < 0) continue;
        for (size_t i = 0; i < a->count; i++)
            if (polls[i + 1].revents) read_stream(&a->children[i]);
        if (polls[0].revents) receive(a);
        show_progress(a);
    }
}

/* --- exit states */

static void put_end(const struct audit_client *a, const struct audit_child *child, struct buf *out)
{
    char duration[32];
    if (child->is_broken)
        buf_puts(out, "sent unreadable output");
    else if (!child->has_ended)
        buf_puts(out, "has an unknown exit status because the engine stopped");
    else if (WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGALRM) {
        snprintf(duration, sizeof duration, "%gs", (double)a->request->engine.timeout_ms / MS_PER_S);
        buf_printf(out, "exceeded --timeout (%s)", duration);
    } else if (WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGABRT)
        buf_puts(out, "was aborted, possibly because it exceeded --child-memory; see the engine's stderr");
    else if (WIFSIGNALED(child->status))
        buf_printf(out, "was killed by SIG%s", sigabbrev_np(WTERMSIG(child->status)));
    else
        buf_printf(out, "exited with code %d", WEXITSTATUS(child->status));
}

static bool print_end(const struct audit_client *a)
{
    bool whole = true;
    /* The stream decides, not the exit status: a child that was killed after its last line has sent
     * everything. */
    for (size_t i = 0; i < a->count; i++) {
        const struct audit_child *child = &a->children[i];
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

static bool any_has_begun(const struct audit_client *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (audit_stream_has_begun(a->children[i].stream)) return true;
    return false;
}

static enum audit_end end_of(const struct audit_client *a, struct err *err)
{
    /* No child could load the rules: that is an error of the caller, not an incomplete result. */
    if (!any_has_begun(a) && a->has_problem) {
        *err = a->first_problem;
        return AUDIT_FAILED;
    }
    return print_end(a) && !a->has_problem ? AUDIT_COMPLETE : AUDIT_INCOMPLETE;
}

/* --- begin */

static bool take_begun(struct audit_client *a, size_t at, struct err *err)
{
    const struct audit_stream_sink sink = {.table = a->table,
                                           .print = on_print,
                                           .problem = on_problem,
                                           .hides_secrets = !a->request->engine.show_secrets,
                                           .ctx = a};
    size_t pids = tape_field(&a->session.tape, at, STR("pids"));
    a->pause_ns = audit_session_number(&a->session, at, STR("pauseNs"));
    for (size_t v = pids ? tape_first(&a->session.tape, pids, NULL) : 0; v && a->count < a->session.fd_count;
         v = tape_next(&a->session.tape, pids, v, NULL)) {
        a->children[a->count] = (struct audit_child){.pid = tape_int(&a->session.tape, v, 0),
                                                     .fd = a->session.fds[a->count],
                                                     .stream = audit_stream_new(&sink)};
        a->session.fds[a->count] = -1;
        a->count++;
    }
    return a->count > 0 || err_set(err, ERR_PARSE, "the engine started no child processes");
}

static bool begin(struct audit_client *a, int order, struct err *err)
{
    size_t at = audit_session_begin(&a->session, a->request->engine.children, order, err);
    return at && take_begun(a, at, err);
}

static void end(struct audit_client *a)
{
    for (size_t i = 0; i < a->count; i++) {
        close_stream(&a->children[i]);
        audit_stream_free(a->children[i].stream);
    }
    audit_session_close(&a->session);
}

void audit_engine_report_pause(const struct audit_engine_facts *facts, const struct audit_table *table)
{
    size_t count = audit_table_totals(table).audited;
    fprintf(stderr, "kubelua audit: %zu %s by %zu %s; the engine paused for %.1f ms\n", count,
            count == 1 ? "object" : "objects", facts->children, facts->children == 1 ? "child" : "children",
            (double)facts->pause_ns / 1e6);
}

static enum audit_end run(struct audit_client *a, int order, const char *path, struct err *err)
{
    if (!audit_session_open(&a->session, path, err)) return AUDIT_FAILED;
    if (!begin(a, order, err)) {
        err_wrap(err, "%s", path);
        return AUDIT_FAILED;
    }
    progress_begin(&a->progress, "Auditing", 0);
    read_all(a);
    progress_end(&a->progress);
    return end_of(a, err);
}

enum audit_end audit_engine(const struct audit_request *request, struct audit_table *table,
                            struct audit_engine_facts *facts, struct err *err)
{
    struct audit_client a = {.request = request, .table = table, .session.fd = -1};
    enum audit_end result = AUDIT_FAILED;
    int order = audit_job_make(request, audit_table_keeps_passes(table), err);
    if (order < 0) return AUDIT_FAILED;
    char *path = unix_socket_choose_path(request->options.admin_socket, err);
    if (path) result = run(&a, order, path, err);
    *facts = (struct audit_engine_facts){a.count, a.pause_ns};
    free(path);
    close(order);
    end(&a);
    return result;
}
