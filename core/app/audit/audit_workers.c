/* Forks, deals pieces and adds results in their order; see audit_workers.h. Pieces are dealt by a counter in
 * shared memory. A worker writes a head and frames for each; the command reads heads as they come, and frames
 * when it is their turn: until then they wait in the pipe, so that memory stays bounded. */
#include "app/audit/audit_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fork_child.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"

enum { PIPE_SIZE = 1 << 20 };

#define NO_MORE UINT64_MAX /* as the number of a piece: the worker ends */

/* Of a piece. */
struct piece_head {
    uint64_t piece, whole, lines, objects, elsewhere;
    uint64_t size; /* of the frames behind it */
};

struct worker_process {
    pid_t pid;
    int fd; /* -1: at its end */
    bool has_head;
    struct piece_head head; /* of a piece whose turn comes */
    struct audit_stream *stream;
};

struct workers {
    const struct audit_workers_options *options;
    struct input_share *share;
    _Atomic uint64_t *next; /* piece to be dealt, in shared memory */
    struct worker_process items[AUDIT_WORKERS_MAX];
    size_t count;
    struct buf frames;
};

/* --- in a worker */

static void flush_run(struct audit_worker *worker)
{
    if (worker->run.count) audit_stream_put_unmatched(&worker->out, &worker->run);
    worker->run.count = 0;
}

void audit_worker_print(void *ctx, struct str line)
{
    struct audit_worker *worker = ctx;
    flush_run(worker);
    audit_stream_put_print(&worker->out, line);
}

void audit_worker_unmatched(struct audit_worker *worker, struct str api_version, struct str kind, size_t line)
{
    struct audit_unmatched_run *run = &worker->run;
    if (run->count && str_eq(run->api_version, api_version) && str_eq(run->kind, kind)) {
        run->count++;
        return;
    }
    flush_run(worker);
    worker->type.len = 0;
    buf_str(&worker->type, kind);
    buf_str(&worker->type, api_version);
    *run = (struct audit_unmatched_run){.kind = {worker->type.data, kind.n},
                                        .api_version = {worker->type.data + kind.n, api_version.n},
                                        .line = line,
                                        .count = 1};
}

/* The command writes the line when it evaluates the rule itself: the log is its own. */
static void on_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                   const struct log_field *fields)
{
    struct audit_worker *worker = ctx;
    worker->is_unusual = true;
}

/* Reads a piece and writes its head and frames, in one buffer. */
static bool do_piece(const struct workers *all, struct audit_worker *worker, uint64_t piece)
{
    struct audit_table *table = all->options->sink.table;
    struct input_piece_read got = input_share_read(all->share, piece);
    flush_run(worker);
    audit_stream_put_found(&worker->out, table);
    audit_table_forget(table);
    struct piece_head head = {.piece = piece,
                              .whole = got.whole && !worker->is_unusual,
                              .lines = got.lines,
                              .objects = worker->objects,
                              .elsewhere = worker->elsewhere,
                              .size = worker->out.len - sizeof head};
    memcpy(worker->out.data, &head, sizeof head);
    bool ok = file_write(FORK_CHILD_FD, buf_slice(&worker->out));
    worker->out.len = 0;
    worker->objects = worker->elsewhere = 0;
    return ok && head.whole;
}

static _Noreturn void work(const struct workers *all, int result, pid_t parent)
{
    static const struct piece_head room = {0}, no_more = {.piece = NO_MORE};
    struct audit_worker worker = {0};
    struct err err;
    uint64_t piece;
    fork_child_setup("kubelua-audit", parent, (const int[]){result, input_share_fd(all->share)}, 2);
    input_share_set_fd(all->share, FORK_CHILD_FD + 1);
    log_capture(on_log, &worker);
    all->options->become(all->options->ctx, &worker);
    audit_table_forget(all->options->sink.table);
    buf_append(&worker.out, &room, sizeof room);
    if (!audit_stream_put_rules(&worker.out, all->options->sink.table, &err)) _exit(1);
    while ((piece = atomic_fetch_add(all->next, 1)) < all->share->count) {
        if (!do_piece(all, &worker, piece)) _exit(1);
        buf_append(&worker.out, &room, sizeof room);
    }
    file_write(FORK_CHILD_FD, (struct str){(const char *)&no_more, sizeof no_more});
    _exit(0);
}

/* --- in the command */

static bool start(struct workers *all, pid_t parent)
{
    struct worker_process *worker = &all->items[all->count];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
    pid_t pid = fork();
    if (pid == 0) work(all, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *worker =
        (struct worker_process){.pid = pid, .fd = ends[0], .stream = audit_stream_new(&all->options->sink)};
    all->count++;
    return true;
}

static bool read_all(int fd, void *into, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t n = read(fd, (char *)into + got, size - got);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

/* Adds the frames of a piece whose turn it is. Returns false if the command has to read it. */
static bool add(struct workers *all, struct worker_process *worker, uint64_t *lines)
{
    const struct audit_workers_options *options = all->options;
    const struct piece_head *head = &worker->head;
    struct err err;
    worker->has_head = false;
    if (!head->whole) return false;
    all->frames.len = 0;
    buf_reserve(&all->frames, head->size);
    if (!read_all(worker->fd, all->frames.data, head->size)) return false;
    audit_stream_set_line(worker->stream, all->share->line - 1 + *lines);
    must(audit_stream_take(worker->stream, (struct str){all->frames.data, head->size}, &err));
    *lines += head->lines;
    options->added(options->ctx, head->objects, head->elsewhere,
                   all->share->from + (head->piece + 1) * all->share->piece);
    return true;
}

/* Reads the next head of a worker. Returns false if it has died. */
static bool take_head(struct worker_process *worker)
{
    if (!read_all(worker->fd, &worker->head, sizeof worker->head)) return false;
    worker->has_head = worker->head.piece != NO_MORE;
    if (worker->has_head) return true;
    close(worker->fd);
    worker->fd = -1;
    return true;
}

/* Waits for heads. Returns false if a worker has died, or none is left. */
static bool await_heads(struct workers *all)
{
    struct pollfd polls[AUDIT_WORKERS_MAX];
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        polls[i] = (struct pollfd){all->items[i].has_head ? -1 : all->items[i].fd, POLLIN, 0};
        any |= polls[i].fd >= 0;
    }
    if (!any) return false;
    if (poll(polls, all->count, -1) < 0) return errno == EINTR;
    for (size_t i = 0; i < all->count; i++)
        if (polls[i].revents && !take_head(&all->items[i])) return false;
    return true;
}

static struct worker_process *find_piece(struct workers *all, uint64_t piece)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].has_head && all->items[i].head.piece == piece) return &all->items[i];
    return NULL;
}

static size_t add_all(struct workers *all, uint64_t *lines)
{
    size_t piece = 0;
    while (piece < all->share->count) {
        struct worker_process *worker = find_piece(all, piece);
        if (worker && !add(all, worker, lines)) break;
        if (worker) piece++;
        if (!worker && !await_heads(all)) break;
    }
    return piece;
}

static void end(struct workers *all)
{
    for (size_t i = 0; i < all->count; i++) {
        struct worker_process *worker = &all->items[i];
        if (worker->fd >= 0) close(worker->fd);
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) {}
        audit_stream_free(worker->stream);
    }
    buf_clear(&all->frames);
    munmap((void *)all->next, sizeof *all->next);
}

size_t audit_workers_read(const struct audit_workers_options *options, struct input_share *share,
                          uint64_t *lines)
{
    struct workers all = {.options = options, .share = share};
    size_t count = options->count < AUDIT_WORKERS_MAX ? options->count : AUDIT_WORKERS_MAX;
    pid_t parent = getpid();
    if (count < 2) return 0;
    all.next = mmap(NULL, sizeof *all.next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all.next == MAP_FAILED) return 0;
    bool ok = true;
    while (ok && all.count < count) ok = start(&all, parent);
    size_t pieces = all.count > 1 ? add_all(&all, lines) : 0;
    end(&all);
    return pieces;
}
