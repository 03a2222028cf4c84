/* Tokens, token files and basic auth; see credentials.h. */
#include "kube/config/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "kube/config/token_file.h"

enum { TOKEN_AGE_MS = 50000 }; /* a minute, less ten seconds as in client-go (T-7) */

struct credentials {
    struct clock *clock;
    char *token; /* the fixed token, or that of the file when last read; NULL: not read yet */
    char *token_file;
    int64_t read_ms;
    char *basic; /* "user:password" */
    struct exec_plugin *plugin;
};

static void warn_of_plain(const struct cluster_config *config)
{
    const char *what = config->token || config->token_file ? "the token"
                       : config->username                  ? "the password"
                       : config->client_cert_pem           ? "the client certificate"
                       : config->exec                      ? "the credentials of the exec plugin"
                                                           : NULL;
    if (what)
        log_warn("Credentials are not sent over plain http", F("what", what), F("server", config->server));
}

struct credentials *credentials_new(const struct cluster_config *config, struct clock *clock,
                                    struct exec_plugin *plugin)
{
    struct credentials *credentials = NEW(struct credentials);
    credentials->clock = clock;
    credentials->plugin = plugin;
    /* C-7: credentials go over TLS only, as in client-go: a token in the clear would be worse than a 401. */
    if (!str_starts(str_of(config->server), STR("https://"))) {
        warn_of_plain(config);
        return credentials;
    }
    credentials->token_file = xstrdup(config->token_file);
    if (!config->token_file) credentials->token = xstrdup(config->token);
    if (config->username) {
        struct buf pair = {0};
        buf_printf(&pair, "%s:%s", config->username, config->password ? config->password : "");
        credentials->basic = buf_take(&pair);
    }
    return credentials;
}

void credentials_free(struct credentials *credentials)
{
    if (!credentials) return;
    wipe(credentials->token);
    wipe(credentials->basic);
    free(credentials->token_file);
    exec_plugin_free(credentials->plugin);
    free(credentials);
}

static bool refresh(struct credentials *credentials, struct err *err)
{
    int64_t now = clock_now_ms(credentials->clock);
    if (!credentials->token_file || (credentials->token && now - credentials->read_ms < TOKEN_AGE_MS))
        return true;
    char *fresh;
    struct err why;
    if (token_file_read(credentials->token_file, &fresh, &why)) {
        wipe(credentials->token);
        credentials->token = fresh;
    } else if (credentials->token) {
        log_warn("Failed to read token file, still using the old token", F("err", why.text));
    } else {
        /* A script would take ERR_NOT_FOUND for the object of its request. */
        return err_set(err, why.code == ERR_NOT_FOUND ? ERR_IO : why.code, "%s", why.text);
    }
    credentials->read_ms = now;
    return true;
}

enum transport_permit credentials_header(struct credentials *credentials, struct buf *out, unsigned *number,
                                         struct err *err)
{
    if (credentials->plugin) return exec_plugin_authorize(credentials->plugin, out, number, err);
    if (!refresh(credentials, err)) return PERMIT_FAIL;
    if (credentials->token) {
        buf_printf(out, "Bearer %s", credentials->token);
    } else if (credentials->basic) {
        buf_puts(out, "Basic ");
        base64_encode(str_of(credentials->basic), out);
    }
    return PERMIT_GO;
}

void credentials_on_response(struct credentials *credentials, int http_status, unsigned number)
{
    if (credentials->plugin && http_status == 401 && number) exec_plugin_refused(credentials->plugin, number);
}

const char *credentials_plugin_running(const struct credentials *credentials, int64_t *since_us)
{
    return credentials->plugin ? exec_plugin_running(credentials->plugin, since_us) : NULL;
}
