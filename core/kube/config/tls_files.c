/* Certificates that are replaced on disk; see tls_files.h. */
#include "kube/config/tls_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    CHECK_MS = 1000,        /* T-6: shortest time between two checks */
    READ_MS = 5 * 60000,    /* T-6: even without requests */
    PEM_FILE_MAX = 4 << 20, /* bytes */
};

enum { CA, CERT, KEY, FILES };

/* Identity of a version of a file, known without reading it. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written, changed;
};

struct tls_files {
    struct transport *transport;
    struct clock *clock;
    struct timer timer;
    int64_t checked_ms;
    char *paths[FILES]; /* NULL: not from a file */
    struct stamp stamps[FILES];
};

static bool has_changed(struct tls_files *files)
{
    bool changed = false;
    for (int i = 0; i < FILES; i++) {
        struct stamp now;
        struct stat st;
        memset(&now, 0, sizeof now); /* padding is compared too */
        if (!files->paths[i]) continue;
        if (stat(files->paths[i], &st) == 0) {
            now.device = st.st_dev;
            now.inode = st.st_ino;
            now.size = st.st_size;
            now.written = st.st_mtim;
            now.changed = st.st_ctim;
        }
        changed |= memcmp(&now, &files->stamps[i], sizeof now) != 0;
        files->stamps[i] = now;
    }
    return changed;
}

static bool read_files(struct tls_files *files, struct buf *texts, struct err *err)
{
    for (int i = 0; i < FILES; i++) {
        if (!files->paths[i]) continue;
        if (!file_read(files->paths[i], PEM_FILE_MAX, &texts[i], err)) return false;
        if (!texts[i].len) /* an emptied file must not mean the system's roots (T-1) */
            return err_set(err, ERR_TLS, "%s: the file is empty", files->paths[i]);
    }
    return true;
}

/* Reads the files again. Unusable ones, as when only one of a pair has been written so far, leave everything
 * as it was. */
static void reload(struct tls_files *files)
{
    struct buf texts[FILES] = {0};
    struct err err;
    bool ok = read_files(files, texts, &err);
    if (ok) {
        const struct transport_tls tls = {buf_slice(&texts[CA]), buf_slice(&texts[CERT]),
                                          buf_slice(&texts[KEY])};
        ok = transport_set_tls(files->transport, &tls, &err);
    }
    if (!ok) log_warn("Invalid certificate files, still using the old certificates", F("err", err.text));
    for (int i = 0; i < FILES; i++) buf_wipe(&texts[i]);
}

/* Ignores the stamps: those of some file systems are too coarse. */
static void on_timer(struct timer *timer)
{
    struct tls_files *files = container_of(timer, struct tls_files, timer);
    has_changed(files);
    reload(files);
    timer_start(timer, files->clock, READ_MS);
}

void tls_files_check(struct tls_files *files)
{
    if (!files) return;
    int64_t now = clock_now_ms(files->clock);
    if (now - files->checked_ms < CHECK_MS) return;
    files->checked_ms = now;
    if (has_changed(files)) reload(files);
}

struct tls_files *tls_files_new(const struct cluster_config *config, struct transport *transport,
                                struct clock *clock)
{
    if (!config->ca_file && !config->client_cert_file && !config->client_key_file) return NULL;
    struct tls_files *files = NEW(struct tls_files);
    files->transport = transport;
    files->clock = clock;
    files->timer.fn = on_timer;
    files->paths[CA] = xstrdup(config->ca_file);
    files->paths[CERT] = xstrdup(config->client_cert_file);
    files->paths[KEY] = xstrdup(config->client_key_file);
    files->checked_ms = clock_now_ms(clock);
    has_changed(files);
    timer_start(&files->timer, clock, READ_MS);
    return files;
}

void tls_files_free(struct tls_files *files)
{
    if (!files) return;
    timer_cancel(&files->timer);
    for (int i = 0; i < FILES; i++) free(files->paths[i]);
    free(files);
}
