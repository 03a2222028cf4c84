/* States in files, and the thread that writes them; see state_files.h. state_file.c has the files. */
#include "engine/state_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "engine/state_file.h"

struct state_files {
    struct state_store base;
    char *dir;
    struct waker *waker;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    struct state_op *job; /* the thread's until `is_done`; NULL: none */
    bool is_done, ends;
};

static struct state_files *of(struct state_store *store)
{
    return container_of(store, struct state_files, base);
}

/* --- the thread */

static void *on_thread(void *ctx)
{
    struct state_files *files = ctx;
    pthread_mutex_lock(&files->lock);
    while (!files->ends) {
        if (!files->job || files->is_done) {
            pthread_cond_wait(&files->changed, &files->lock);
            continue;
        }
        struct state_op *job = files->job;
        pthread_mutex_unlock(&files->lock);
        state_file_do(files->dir, job);
        pthread_mutex_lock(&files->lock);
        files->is_done = true;
        pthread_cond_broadcast(&files->changed);
        waker_wake(files->waker);
    }
    pthread_mutex_unlock(&files->lock);
    return NULL;
}

static void give_job(struct state_files *files, struct state_op *op)
{
    if (!files->has_thread) must(pthread_create(&files->thread, NULL, on_thread, files) == 0);
    files->has_thread = true;
    pthread_mutex_lock(&files->lock);
    files->job = op;
    files->is_done = false;
    pthread_cond_broadcast(&files->changed);
    pthread_mutex_unlock(&files->lock);
}

/* --- the engine */

static void run(struct state_store *store, struct state_op *op)
{
    if (!state_op_reads(op->kind)) {
        give_job(of(store), op);
        return;
    }
    state_file_do(of(store)->dir, op);
    state_op_end(op);
}

/* Ends the operation that the thread has done; false if there is none. `waits`: until it is. */
static bool take_job(struct state_files *files, bool waits)
{
    pthread_mutex_lock(&files->lock);
    while (waits && files->job && !files->is_done) pthread_cond_wait(&files->changed, &files->lock);
    struct state_op *job = files->is_done ? files->job : NULL;
    if (job) files->job = NULL;
    pthread_mutex_unlock(&files->lock);
    if (job) state_op_end(job);
    return job != NULL;
}

static void on_wake(void *ctx)
{
    take_job(ctx, false);
}

static void settle(struct state_store *store)
{
    while (take_job(of(store), true)) {}
}

static void free_files(struct state_store *store)
{
    struct state_files *files = of(store);
    settle(store);
    pthread_mutex_lock(&files->lock);
    files->ends = true;
    pthread_cond_broadcast(&files->changed);
    pthread_mutex_unlock(&files->lock);
    if (files->has_thread) pthread_join(files->thread, NULL);
    waker_free(files->waker);
    pthread_cond_destroy(&files->changed);
    pthread_mutex_destroy(&files->lock);
    state_store_clear(store);
    free(files->dir);
    free(files);
}

static bool open_folder(const char *dir, struct err *err)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "cannot make the directory %s: %s", dir, strerror(errno));
    if (access(dir, R_OK | W_OK | X_OK) == 0) return true;
    return err_set(err, ERR_IO, "cannot write into the directory %s: %s", dir, strerror(errno));
}

struct state_store *state_files_new(const char *dir, struct loop *loop, struct err *err)
{
    if (!open_folder(dir, err)) return NULL;
    struct state_files *files = NEW(struct state_files);
    *files = (struct state_files){
        .base = {.keep = "file", .max = STATE_FILE_MAX, .run = run, .settle = settle, .free = free_files},
        .dir = xstrdup(dir)};
    state_store_init(&files->base);
    pthread_mutex_init(&files->lock, NULL);
    pthread_cond_init(&files->changed, NULL);
    files->waker = waker_new(loop, on_wake, files);
    return &files->base;
}
