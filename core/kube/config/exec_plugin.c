/* Runs an exec plugin, and keeps its credentials; see exec_plugin.h. */
#include "kube/config/exec_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/config/exec_credential.h"
#include "kube/config/exec_metrics.h"
#include "net/child.h"

enum {
    TIMEOUT_MS = 60000, /* of a plugin without a terminal; a user may take longer to respond */
    OUTPUT_MAX = 1 << 20,
    LINES_MAX = 100, /* of its messages, for each run */
    /* Time for which the result of a run stands, good or bad: waiting requests receive it, and a plugin that
       fails, or returns expired credentials, is not run again for each of them. */
    STANDS_MS = 1000,
    TICK_MS = 10000,   /* between two updates of the certificate's metrics */
    HINT_MS = 3600000, /* T-14: shortest time between two install hints */
};

struct exec_plugin {
    struct exec_config *exec;
    struct cluster_config cluster; /* the part that a plugin may receive; borrows nothing */
    struct loop *loop;
    struct transport *transport;
    struct child *child;              /* NULL: not running */
    _Atomic int64_t running_since_us; /* wall time, for other threads; 0: not running */
    unsigned lines;
    struct exec_credential credential;
    unsigned number;  /* of the credential; 0: none yet */
    struct err err;   /* of the last run; ERR_NONE if it succeeded */
    int64_t ended_ms; /* when it ended */
    uint64_t logged;  /* hash of the last logged failure; 0: the last run succeeded */
    struct exec_metrics *metrics;
    struct timer tick;
    bool has_run, hinted;
    int64_t hinted_ms;
};

static int64_t now_ms(const struct exec_plugin *plugin)
{
    return clock_now_ms(loop_clock(plugin->loop));
}

static int64_t wall_us(const struct exec_plugin *plugin)
{
    return clock_wall_us(loop_clock(plugin->loop));
}

static bool expired(const struct exec_plugin *plugin)
{
    int64_t expires_us = plugin->credential.expires_us;
    return expires_us && wall_us(plugin) > expires_us;
}

static bool just_ended(const struct exec_plugin *plugin)
{
    return plugin->has_run && now_ms(plugin) - plugin->ended_ms < STANDS_MS;
}

/* --- a run and its end */

/* Logs a failure once, as the waiting requests report it too. */
static void log_failure(struct exec_plugin *plugin)
{
    bool good = plugin->err.code == ERR_NONE;
    uint64_t hash = good ? 0 : hash_str(str_of(plugin->err.text));
    if (!good && hash != plugin->logged) log_warn("Exec plugin failed", F("err", plugin->err.text));
    plugin->logged = hash;
}

/* Ends a run; waiting requests continue with its result. */
static void end_run(struct exec_plugin *plugin)
{
    plugin->has_run = true;
    plugin->ended_ms = now_ms(plugin);
    transport_resume(plugin->transport);
    log_failure(plugin);
}

/* Records a failure, never as "not found", which a script would take for its own object. */
static void fail(struct exec_plugin *plugin, const struct err *err)
{
    if (err->code == ERR_TIMEOUT || err->code == ERR_LIMIT)
        plugin->err = *err;
    else
        err_set(&plugin->err, ERR_IO, "%s", err->code == ERR_NOT_FOUND ? "it is not installed" : err->text);
    err_wrap(&plugin->err, "exec plugin %s", plugin->exec->command);
}

/* Takes the credentials. Another certificate closes all connections (T-13); a token does not. */
static bool use(struct exec_plugin *plugin, const struct exec_credential *fresh, struct err *err)
{
    const char *cert = fresh->cert_pem ? fresh->cert_pem : "", *key = fresh->key_pem ? fresh->key_pem : "";
    const struct transport_tls tls = {.client_cert_pem = str_of(cert), .client_key_pem = str_of(key)};
    return transport_set_tls(plugin->transport, &tls, err);
}

static void on_tick(struct timer *timer)
{
    struct exec_plugin *plugin = container_of(timer, struct exec_plugin, tick);
    exec_metrics_tick(plugin->metrics, wall_us(plugin));
    timer_start(timer, loop_clock(plugin->loop), TICK_MS);
}

static void show_certificate(struct exec_plugin *plugin, const char *cert, const char *before)
{
    if (!cert || (before && strcmp(cert, before) == 0)) return;
    exec_metrics_certificate(plugin->metrics, str_of(cert), wall_us(plugin));
    timer_start(&plugin->tick, loop_clock(plugin->loop), TICK_MS);
}

static void on_end(void *ctx, int exit_code, struct str output, const struct err *failure)
{
    struct exec_plugin *plugin = ctx;
    struct exec_credential fresh = {0};
    struct err err;
    plugin->child = NULL;
    plugin->running_since_us = 0;
    err_clear(&plugin->err);
    exec_metrics_ran(plugin->metrics, exit_code);
    bool ok =
        !failure && exec_credential_read(plugin->exec, output, &fresh, &err) && use(plugin, &fresh, &err);
    if (ok) {
        show_certificate(plugin, fresh.cert_pem, plugin->credential.cert_pem);
        exec_credential_clear(&plugin->credential);
        plugin->credential = fresh;
        plugin->number++;
        log_v(2, "Exec plugin returned credentials", F("command", plugin->exec->command),
              FB("token", fresh.token != NULL), FB("certificate", fresh.cert_pem != NULL));
    } else {
        exec_credential_clear(&fresh);
        fail(plugin, failure ? failure : &err);
    }
    end_run(plugin);
}

static void on_line(void *ctx, struct str line)
{
    struct exec_plugin *plugin = ctx;
    if (plugin->lines++ < LINES_MAX)
        log_info("Exec plugin output", F("command", plugin->exec->command), FS("text", line));
}

/* Decides whether the plugin may use the terminal (T-14). */
static bool choose_interactive(const struct exec_plugin *plugin, bool *interactive, struct err *err)
{
    bool terminal = isatty(STDIN_FILENO);
    *interactive = plugin->exec->interactive != EXEC_NEVER && terminal;
    return plugin->exec->interactive != EXEC_ALWAYS || terminal ||
           err_set(err, ERR_INVALID, "interactiveMode is Always, but stdin is not a terminal");
}

static void give_hint(struct exec_plugin *plugin)
{
    const char *hint = plugin->exec->install_hint;
    if (!hint || (plugin->hinted && now_ms(plugin) - plugin->hinted_ms < HINT_MS)) return;
    plugin->hinted = true;
    plugin->hinted_ms = now_ms(plugin);
    log_warn("The exec plugin is not installed", F("command", plugin->exec->command), F("hint", hint));
}

static struct child *spawn(struct exec_plugin *plugin, bool interactive, struct err *err)
{
    const struct exec_config *exec = plugin->exec;
    const struct child_callbacks callbacks = {on_line, on_end, plugin};
    size_t args = 0, vars = 0;
    while (exec->args[args]) args++;
    while (exec->env[vars]) vars++;
    const char **argv = xcalloc(args + 2, sizeof *argv), **env = xcalloc(vars + 2, sizeof *env);
    struct buf info = {0};
    buf_puts(&info, "KUBERNETES_EXEC_INFO=");
    exec_credential_info(exec, &plugin->cluster, interactive, &info);
    argv[0] = exec->command;
    for (size_t i = 0; i < args; i++) argv[i + 1] = exec->args[i];
    for (size_t i = 0; i < vars; i++) env[i] = exec->env[i];
    env[vars] = buf_text(&info);
    const struct child_options options = {.argv = argv,
                                          .env = env,
                                          .output_max = OUTPUT_MAX,
                                          .timeout_ms = interactive ? 0 : TIMEOUT_MS,
                                          .interactive = interactive};
    struct child *child = child_start(plugin->loop, &options, &callbacks, err);
    if (!child) exec_metrics_not_run(plugin->metrics, err);
    if (!child && err->code == ERR_NOT_FOUND) give_hint(plugin);
    buf_clear(&info);
    free(argv);
    free(env);
    return child;
}

static void run(struct exec_plugin *plugin)
{
    struct err err;
    bool interactive;
    plugin->lines = 0;
    if (choose_interactive(plugin, &interactive, &err)) plugin->child = spawn(plugin, interactive, &err);
    if (plugin->child) plugin->running_since_us = wall_us(plugin);
    if (plugin->child) return;
    fail(plugin, &err);
    end_run(plugin);
}

/* --- authorization of requests */

enum transport_permit exec_plugin_authorize(struct exec_plugin *plugin, struct buf *value, unsigned *number,
                                            struct err *err)
{
    if (!plugin->child && (!plugin->number || expired(plugin)) && !just_ended(plugin)) run(plugin);
    if (plugin->child) return PERMIT_WAIT;
    /* Credentials that are still valid outlive a failed run. */
    if (plugin->err.code != ERR_NONE && (!plugin->number || expired(plugin))) {
        *err = plugin->err;
        return PERMIT_FAIL;
    }
    *number = plugin->number;
    if (!plugin->credential.token) return PERMIT_GO;
    buf_printf(value, "Bearer %s", plugin->credential.token);
    return PERMIT_GO;
}

/* Runs the plugin after a 401, once: many requests may have carried the same credential (T-13). */
void exec_plugin_refused(struct exec_plugin *plugin, unsigned number)
{
    if (number == plugin->number && !plugin->child && !just_ended(plugin)) run(plugin);
}

const char *exec_plugin_running(const struct exec_plugin *plugin, int64_t *since_us)
{
    *since_us = plugin->running_since_us;
    return *since_us ? plugin->exec->command : NULL;
}

static bool has_other_credentials(const struct cluster_config *config)
{
    return config->token || config->token_file || config->username || config->client_cert_pem;
}

struct exec_plugin *exec_plugin_new(const struct cluster_config *config, struct loop *loop,
                                    struct transport *transport)
{
    bool tls = str_starts(str_of(config->server), STR("https://"));
    if (!config->exec || has_other_credentials(config) || !tls) return NULL;
    struct exec_plugin *plugin = NEW(struct exec_plugin);
    plugin->exec = exec_config_copy(config->exec);
    plugin->cluster = (struct cluster_config){
        .server = xstrdup(config->server),
        .ca_pem = xstrdup(config->ca_pem),
        .tls_server_name = xstrdup(config->tls_server_name),
        .proxy_url = xstrdup(config->proxy_url),
        .insecure_skip_tls_verify = config->insecure_skip_tls_verify,
        .disable_compression = config->disable_compression,
    };
    plugin->loop = loop;
    plugin->transport = transport;
    plugin->metrics = exec_metrics_new();
    plugin->tick.fn = on_tick;
    err_clear(&plugin->err);
    return plugin;
}

void exec_plugin_free(struct exec_plugin *plugin)
{
    if (!plugin) return;
    child_kill(plugin->child);
    timer_cancel(&plugin->tick);
    exec_metrics_free(plugin->metrics);
    exec_credential_clear(&plugin->credential);
    cluster_config_clear(&plugin->cluster);
    exec_config_free(plugin->exec);
    free(plugin);
}
