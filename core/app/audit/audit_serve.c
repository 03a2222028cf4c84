/* `kubelua audit --engine` at the engine: forks the children that ask the rules, hands their streams to who
 * wants them, and tells how each ended; see audit_protocol.h and audit_serve.h. The fork is all that the
 * engine thread does of an audit, and how long it takes is told. All is on that thread. */
#include "app/audit/audit_serve.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "app/audit/audit_children.h"
#include "app/audit/audit_protocol.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "kube/kinds/kinds.h"

/* One that is under way. */
struct engine_audit {
    struct audit_sessions *sessions;
    struct engine *engine;
    int fd;
    ev_io readable;
    struct timer timeout; /* for its order, while it has not begun */
    size_t wanted;        /* children */
    struct audit_children children;
    bool ending;    /* it goes with the last child, which was killed */
    int64_t client; /* its pid */
};

struct audit_sessions {
    struct engine *engine;
    struct engine_audit *under_way; /* NULL: none; there is one at a time */
};

static struct ev_loop *ev_of(const struct engine_audit *a)
{
    return loop_ev(engine_loop(a->engine));
}

/* None of its children runs any more. */
static void audit_free(struct engine_audit *a)
{
    a->sessions->under_way = NULL;
    log_info("Audit finished", FI("pid", a->client));
    free(a);
}

/* Nobody listens any more; what still runs is killed. */
static void audit_end(struct engine_audit *a)
{
    a->ending = true;
    timer_cancel(&a->timeout);
    ev_io_stop(ev_of(a), &a->readable);
    close(a->fd);
    audit_children_kill(&a->children);
    if (a->children.running == 0) audit_free(a);
}

/* --- to the audit */

/* The socket has room for the few lines that there are, or nobody reads. `fds` go with the line. */
static bool send_line(struct engine_audit *a, const struct buf *line, const int *fds, size_t count)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(AUDIT_CHILDREN_MAX * sizeof(int))];
    } control = {0};
    struct iovec bytes = {line->data, line->len};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (count) {
        control.head = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof *fds)};
        memcpy(CMSG_DATA(&control.head), fds, count * sizeof *fds);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
    }
    return sendmsg(a->fd, &message, MSG_NOSIGNAL) == (ssize_t)line->len;
}

/* `result` is JSON. */
static bool send_result(struct engine_audit *a, struct buf *result, const int *fds, size_t count)
{
    struct buf line = {0};
    admin_result_write(buf_slice(result), &line);
    bool ok = send_line(a, &line, fds, count);
    buf_clear(&line);
    buf_clear(result);
    return ok;
}

static void send_error(struct engine_audit *a, const char *why)
{
    struct buf line = {0};
    admin_error_write(why, &line);
    (void)!send_line(a, &line, NULL, 0);
    buf_clear(&line);
}

static bool send_ended(struct engine_audit *a, size_t child, int status)
{
    struct buf out = {0};
    json_open(&out, NULL, '{');
    json_int(&out, "child", (int64_t)child);
    json_int(&out, "status", status);
    json_close(&out, '}');
    return send_result(a, &out, NULL, 0);
}

static bool send_begun(struct engine_audit *a, int64_t pause_ns)
{
    int streams[AUDIT_CHILDREN_MAX];
    struct buf out = {0};
    json_open(&out, NULL, '{');
    json_open(&out, "pids", '[');
    for (size_t i = 0; i < a->children.count; i++) {
        json_int(&out, NULL, a->children.items[i].pid);
        streams[i] = a->children.items[i].stream;
    }
    json_close(&out, ']');
    json_int(&out, "pauseNs", pause_ns);
    json_close(&out, '}');
    bool ok = send_result(a, &out, streams, a->children.count);
    audit_children_close_streams(&a->children);
    return ok;
}

/* --- children */

static void on_ended(void *ctx, size_t which, int status)
{
    struct engine_audit *a = ctx;
    if (a->ending) {
        if (a->children.running == 0) audit_free(a);
        return;
    }
    if (WIFSIGNALED(status))
        log_warn("Audit child process was killed, the result is incomplete",
                 FI("pid", a->children.items[which].pid), F("signal", sigabbrev_np(WTERMSIG(status))));
    if (!send_ended(a, which, status) || a->children.running == 0) audit_end(a);
}

/* Of which a child cannot ask: it has no I/O thread. */
static void note_refused(const struct shared_factory *factory)
{
    struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(factory, claim))) claim_note_refused(claim);
}

/* Generations that run out, or wait for their turn, are not asked. */
static bool start_children(struct engine_audit *a, int order, struct err *err)
{
    struct engine *engine = a->engine;
    const struct managed_scripts *managed = engine_scripts(engine);
    const struct cluster_parts *parts = &engine_cluster(engine)->parts;
    struct script **scripts = xcalloc(managed->count + 1, sizeof(struct script *));
    int64_t pause_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < managed->count; i++)
        if (managed->items[i]->running) scripts[count++] = managed->items[i]->running;
    struct audit_child_options options = {.factory = parts->factory,
                                          .catalogue = kinds_complete_catalogue(parts->kinds),
                                          .host = engine_host(engine),
                                          .scripts = scripts,
                                          .script_count = count,
                                          .order = order};
    note_refused(parts->factory);
    bool ok =
        audit_children_start(&a->children, a->wanted, &options, engine_cluster(engine)->io, &pause_ns, err);
    free(scripts);
    if (!ok) return false;
    log_info("Audit started", FI("pid", a->client), FI("children", a->children.count),
             FI("pauseMicroseconds", pause_ns / 1000));
    return send_begun(a, pause_ns) || err_set(err, ERR_CLOSED, "the client of the audit disconnected");
}

/* --- from the audit */

/* The descriptor that came with the byte; -1: there is none. */
static int take_order(struct engine_audit *a, ssize_t *n)
{
    char byte;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int fd = -1;
    *n = recvmsg(a->fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = *n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* Once it has begun there is nothing more to say but that it goes. */
static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    struct engine_audit *a = container_of(io, struct engine_audit, readable);
    struct err err;
    ssize_t n;
    int order = take_order(a, &n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    timer_cancel(&a->timeout);
    if (n > 0 && order >= 0 && a->children.count == 0) {
        if (start_children(a, order, &err)) {
            close(order);
            return;
        }
        send_error(a, err.text);
    }
    if (order >= 0) close(order);
    audit_end(a);
}

/* Others wait for their turn. */
static void on_impatient(struct timer *timer)
{
    struct engine_audit *a = container_of(timer, struct engine_audit, timeout);
    send_error(a, "no audit request received within " AUDIT_JOB_TIMEOUT_TEXT);
    audit_end(a);
}

/* --- begin and end */

static size_t children_of(struct admin_call *call)
{
    const struct tape *tape;
    size_t params = admin_call_params(call, &tape);
    int64_t wanted = params ? tape_int(tape, tape_field(tape, params, STR("children")), 0) : 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted <= 0) wanted = cores > 0 ? cores : 1;
    return wanted < AUDIT_CHILDREN_MAX ? (size_t)wanted : AUDIT_CHILDREN_MAX;
}

static bool may_begin(const struct audit_sessions *sessions, struct err *err)
{
    const struct engine *engine = sessions->engine;
    if (engine_is_ending(engine)) return err_set(err, ERR_CLOSED, "the engine is shutting down");
    if (sessions->under_way)
        return err_set(err, ERR_LIMIT,
                       "another audit is running (client pid %lld); only one is allowed at a time",
                       (long long)sessions->under_way->client);
    return kinds_complete_catalogue(engine_cluster(engine)->parts.kinds) ||
           err_set(err, ERR_NOT_FOUND, "discovery has not completed yet");
}

static int64_t peer_pid(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : 0;
}

struct audit_sessions *audit_sessions_new(struct engine *engine)
{
    struct audit_sessions *sessions = NEW(struct audit_sessions);
    sessions->engine = engine;
    return sessions;
}

void audit_sessions_begin(void *ctx, struct admin_call *call)
{
    struct err err;
    struct audit_sessions *sessions = ctx;
    struct engine *engine = sessions->engine;
    struct buf out = {0};
    if (!may_begin(sessions, &err)) {
        admin_call_fail(call, err.text);
        return;
    }
    struct engine_audit *a = NEW(struct engine_audit);
    a->sessions = sessions;
    a->engine = engine;
    a->wanted = children_of(call);
    a->fd = admin_call_take_connection(call);
    a->client = peer_pid(a->fd);
    sessions->under_way = a;
    a->children.loop = engine_loop(engine);
    a->children.ended = on_ended;
    a->children.ctx = a;
    a->timeout.fn = on_impatient;
    timer_start(&a->timeout, loop_clock(engine_loop(engine)), AUDIT_JOB_TIMEOUT_MS);
    ev_io_init(&a->readable, on_readable, a->fd, EV_READ);
    ev_io_start(ev_of(a), &a->readable);
    json_open(&out, NULL, '{');
    json_text(&out, "server", cluster_server(engine_cluster(engine)));
    json_int(&out, "pid", getpid());
    json_close(&out, '}');
    if (!send_result(a, &out, NULL, 0)) audit_end(a);
}

void audit_sessions_end(struct audit_sessions *sessions)
{
    struct engine_audit *a = sessions->under_way;
    if (!a || a->ending) return;
    send_error(a, "the engine is shutting down");
    audit_end(a);
}

void audit_sessions_free(struct audit_sessions *sessions)
{
    if (!sessions) return;
    audit_sessions_end(sessions);
    if (sessions->under_way) {
        audit_children_wait(&sessions->under_way->children);
        audit_free(sessions->under_way);
    }
    free(sessions);
}
