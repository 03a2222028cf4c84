/* Page about the engine; see ui.h. */
#include "app/monitor/ui.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/embedded_file.h"
#include "base/mem.h"
#include "net/server/web_server.h"

/* Several browsers share a state that is no older. */
enum { FRESH_MS = 500, HOST_MAX = 256 };

enum { OK = 200, FORBIDDEN = 403 };

extern const struct embedded_file ui_files[];

struct ui {
    struct ui_options options;
    struct web_server *server;
    struct mail mail; /* to the engine thread, while `wanted` */
    pthread_mutex_t lock;
    bool wanted;                 /* under the lock, as the rest */
    struct web_client **waiting; /* for the next state */
    size_t waiting_count;
    struct buf state;
    int64_t state_ms; /* 0: none yet */
};

/* --- the requests that are served */

/* Returns the host without its port; "[::1]" without brackets. */
static bool split_host(const char *text, char *host)
{
    const char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');
    size_t skip = *text == '[', length;
    if (*text == '[' && !end) return false;
    length = end ? (size_t)(end - text) - skip : strlen(text);
    if (length == 0 || length >= HOST_MAX) return false;
    memcpy(host, text + skip, length);
    host[length] = '\0';
    return true;
}

/* A name of the domain system may be made to stand for this machine by anybody; an address, and localhost,
 * which browsers resolve themselves, may not. */
static bool is_own_host(const char *header)
{
    char host[HOST_MAX];
    struct in6_addr any;
    if (!header || !split_host(header, host)) return false;
    return strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &any) == 1 ||
           inet_pton(AF_INET6, host, &any) == 1;
}

/* Browsers name the page that sends a request, unless it is the user. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const struct str scheme = STR("http://");
    if (!origin) return true;
    struct str rest = str_of(origin);
    if (!str_starts(rest, scheme)) return false;
    return strcmp(origin + scheme.n, host) == 0;
}

static bool is_allowed(const struct web_request *request, struct web_response *response)
{
    const char *host = request->header(request, "Host");
    if (is_own_host(host) && is_own_origin(request->header(request, "Origin"), host)) return true;
    response->status = FORBIDDEN;
    buf_puts(&response->body,
             "Only http://localhost and addresses of this machine are served, and no other pages.\n");
    return false;
}

/* --- the state */

static void on_written(void *ctx, struct buf *text)
{
    struct ui *ui = ctx;
    pthread_mutex_lock(&ui->lock);
    buf_clear(&ui->state);
    ui->state = *text;
    *text = (struct buf){0};
    ui->state_ms = clock_now_ms(clock_real());
    ui->wanted = false;
    for (size_t i = 0; i < ui->waiting_count; i++) web_resume(ui->waiting[i], 1);
    ui->waiting_count = 0;
    pthread_mutex_unlock(&ui->lock);
}

static void on_mail(struct mail *mail)
{
    struct ui *ui = container_of(mail, struct ui, mail);
    ui->options.write(ui->options.ctx, on_written, ui);
}

/* Under the lock. */
static void wait_for_state(struct ui *ui, const struct web_request *request, struct web_response *response)
{
    struct web_client *client = web_suspend(request, response);
    if (!client) return;
    *array_add(ui->waiting, ui->waiting_count) = client;
    if (ui->wanted) return;
    ui->wanted = true;
    mailbox_post(loop_mailbox(ui->options.engine_loop), &ui->mail);
}

static void serve_state(struct ui *ui, const struct web_request *request, struct web_response *response)
{
    pthread_mutex_lock(&ui->lock);
    bool fresh = ui->state_ms && clock_now_ms(clock_real()) - ui->state_ms < FRESH_MS;
    if (!request->resumed && !fresh) {
        wait_for_state(ui, request, response);
    } else {
        response->status = OK;
        response->content_type = "application/json";
        buf_str(&response->body, buf_slice(&ui->state));
    }
    pthread_mutex_unlock(&ui->lock);
}

/* --- the page */

static void serve_file(const struct web_request *request, struct web_response *response)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"}};
    const char *name = strcmp(request->path, "/") == 0 ? "ui.html" : request->path + 1;
    for (const struct embedded_file *file = ui_files; file->path; file++) {
        if (strcmp(file->path, name) != 0) continue;
        response->status = OK;
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            if (str_ends(str_of(name), str_of(types[i].ending))) response->content_type = types[i].type;
        buf_append(&response->body, file->text, file->len);
        return;
    }
}

static void serve(void *ctx, const struct web_request *request, struct web_response *response)
{
    struct ui *ui = ctx;
    response->is_page = true;
    if (!is_allowed(request, response)) return;
    if (strcmp(request->path, "/state.json") == 0)
        serve_state(ui, request, response);
    else
        serve_file(request, response);
}

/* --- lifetime */

struct ui *ui_new(const struct ui_options *options, struct err *err)
{
    struct ui *ui = NEW(struct ui);
    ui->options = *options;
    ui->mail.deliver = on_mail;
    pthread_mutex_init(&ui->lock, NULL);
    ui->server = web_server_new(
        &(const struct web_server_options){.address = options->address, .serve = serve, .ctx = ui}, err);
    if (ui->server) return ui;
    ui_free(ui);
    return NULL;
}

const char *ui_where(const struct ui *ui)
{
    return web_server_where(ui->server);
}

void ui_free(struct ui *ui)
{
    if (!ui) return;
    if (ui->server) web_server_free(ui->server);
    if (ui->wanted) mailbox_withdraw(loop_mailbox(ui->options.engine_loop), &ui->mail);
    pthread_mutex_destroy(&ui->lock);
    free(ui->waiting);
    buf_clear(&ui->state);
    free(ui);
}
