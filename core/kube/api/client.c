/* Requests to one API server; see client.h. */
#include "kube/api/client.h"

#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time/token_bucket.h"
#include "kube/api/warning.h"
#include "kube/config/credentials.h"
#include "kube/config/tls_files.h"

enum {
    MAX_OBJECT_DEFAULT = 8 << 20,
    QPS_DEFAULT = 5, /* with a burst given */
    BURST_DEFAULT = 10,
    LONG_WAIT_MS = 1000, /* H-2: of the client-side rate limit */
    NOTED_WAIT_MS = 50,
    QUIET_MS = 10000, /* between two lines of the log about that */
};

struct kube_client {
    struct loop *loop;
    struct transport *transport;
    struct packer *packer;
    struct tape_parser *parser;
    struct packers *packers;
    struct credentials *credentials;
    struct tls_files *tls_files;
    struct warnings *warnings;
    bool limited; /* by `bucket` (H-1) */
    struct token_bucket bucket;
    struct rest_metrics *metrics;
    struct reachability *reachability;
    struct throttled *throttled;
    int64_t quiet_until_ms;
    char *server, *cluster;
    struct cluster_header *impersonate;
    size_t impersonate_count;
    size_t max_object_size;
    int64_t request_timeout_ms;
    bool no_compression;
};

static int64_t now_ms(const struct kube_client *client)
{
    return clock_now_ms(loop_clock(client->loop));
}

/* H-1: either flag switches it on, client-go's is the other. */
static void limit(struct kube_client *client, const struct kube_client_options *options)
{
    client->limited = options->qps > 0 || options->burst > 0;
    token_bucket_start(&client->bucket, options->qps > 0 ? options->qps : QPS_DEFAULT,
                       options->burst > 0 ? options->burst : BURST_DEFAULT, now_ms(client));
}

/* H-14. */
static char *user_agent(void)
{
    const char *arch = strcmp(KUBELUA_ARCH, "x86_64") == 0    ? "amd64"
                       : strcmp(KUBELUA_ARCH, "aarch64") == 0 ? "arm64"
                                                              : KUBELUA_ARCH;
    return xasprintf("kubelua/v%s (linux/%s) kubernetes/unknown", KUBELUA_VERSION, arch);
}

/* By the path it is known which object, and mostly which script, is meant; selectors are of no use here. */
static void log_warnings(struct kube_client *client, const struct http_response *response)
{
    const char *host = strstr(response->url, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path) path = "/";
    char *request = xasprintf("%s %.*s", response->method, (int)strcspn(path, "?"), path);
    warnings_log(client->warnings, str_of(response->warning), request);
    free(request);
}

static void on_head(void *ctx, const struct http_response *response)
{
    struct kube_client *client = ctx;
    reachability_ok(client->reachability);
    if (*response->warning) log_warnings(client, response);
    credentials_on_response(client->credentials, response->status, response->authorization);
}

static enum transport_permit authorize(void *ctx, struct buf *value, unsigned *number, struct err *err)
{
    struct kube_client *client = ctx;
    return credentials_header(client->credentials, value, number, err);
}

static struct transport *new_transport(struct kube_client *client, const struct cluster_config *config,
                                       struct http_local *local, struct err *err)
{
    char *agent = user_agent();
    const struct transport_options options = {
        .tls = {str_of(config->ca_pem), str_of(config->client_cert_pem), str_of(config->client_key_pem)},
        .tls_server_name = config->tls_server_name,
        .proxy_url = config->proxy_url,
        .insecure_skip_tls_verify = config->insecure_skip_tls_verify,
        .user_agent = agent,
        .on_response = on_head,
        .authorize = authorize,
        .ctx = client,
        .local = local,
    };
    struct transport *transport = transport_new(client->loop, &options, err);
    free(agent);
    if (!transport) err_wrap(err, "%s", config->source ? config->source : config->server);
    return transport;
}

static void copy_impersonate(struct kube_client *client, const struct cluster_config *config)
{
    client->impersonate_count = config->impersonate_count;
    client->impersonate = xcalloc(config->impersonate_count + 1, sizeof *client->impersonate);
    for (size_t i = 0; i < config->impersonate_count; i++)
        client->impersonate[i] = (struct cluster_header){xstrdup(config->impersonate[i].name),
                                                         xstrdup(config->impersonate[i].value)};
}

struct kube_client *kube_client_new(struct loop *loop, struct pool *pool,
                                    const struct kube_client_options *options, struct err *err)
{
    const struct cluster_config *config = options->config;
    struct clock *clock = loop_clock(loop);
    struct kube_client *client = NEW(struct kube_client);
    client->loop = loop;
    client->transport = new_transport(client, config, options->local, err);
    if (!client->transport) {
        free(client);
        return NULL;
    }
    client->packer = packer_new(pool);
    client->parser = tape_parser_new();
    client->packers = options->packers;
    client->credentials = credentials_new(config, clock, exec_plugin_new(config, loop, client->transport));
    client->tls_files = tls_files_new(config, client->transport, clock);
    client->warnings = warnings_new();
    client->metrics = rest_metrics_new(config->server);
    limit(client, options);
    client->server = xstrdup(config->server);
    if (options->cluster) client->cluster = xstrdup(options->cluster);
    client->reachability = reachability_new(client->server, client->cluster, clock);
    client->throttled = throttled_new(client->server, client->cluster, clock);
    copy_impersonate(client, config);
    client->max_object_size = options->max_object_size ? options->max_object_size : MAX_OBJECT_DEFAULT;
    client->request_timeout_ms = options->request_timeout_ms;
    client->no_compression = config->disable_compression;
    return client;
}

void kube_client_free(struct kube_client *client)
{
    if (!client) return;
    tls_files_free(client->tls_files);
    credentials_free(client->credentials);
    transport_free(client->transport);
    packer_free(client->packer);
    tape_parser_free(client->parser);
    warnings_free(client->warnings);
    rest_metrics_free(client->metrics);
    reachability_free(client->reachability);
    throttled_free(client->throttled);
    for (size_t i = 0; i < client->impersonate_count; i++) {
        free(client->impersonate[i].name);
        free(client->impersonate[i].value);
    }
    free(client->impersonate);
    free(client->server);
    free(client->cluster);
    free(client);
}

struct packer *kube_client_packer(struct kube_client *client)
{
    return client->packer;
}

struct tape_parser *kube_client_parser(struct kube_client *client)
{
    return client->parser;
}

struct packers *kube_client_packers(struct kube_client *client)
{
    return client->packers;
}

size_t kube_client_max_object_size(const struct kube_client *client)
{
    return client->max_object_size;
}

int64_t kube_client_request_timeout_ms(const struct kube_client *client)
{
    return client->request_timeout_ms;
}

struct reachability *kube_client_reachability(const struct kube_client *client)
{
    return client->reachability;
}

struct throttled *kube_client_throttled(const struct kube_client *client)
{
    return client->throttled;
}

struct rest_metrics *kube_client_metrics(struct kube_client *client)
{
    return client->metrics;
}

/* Logs a long wait before it begins, so that its reason is visible meanwhile; often enough (H-2). */
static void log_wait(struct kube_client *client, int64_t wait_ms, const char *method, const char *path)
{
    struct str resource = {path, strcspn(path, "?")};
    if (wait_ms > LONG_WAIT_MS && now_ms(client) >= client->quiet_until_ms) {
        client->quiet_until_ms = now_ms(client) + QUIET_MS;
        log_info("Request delayed by client-side throttling (--kube-api-qps)", F("method", method),
                 FS("path", resource), FI("waitMs", wait_ms));
    } else if (wait_ms > NOTED_WAIT_MS) {
        log_v(3, "Request delayed by client-side throttling (--kube-api-qps)", F("method", method),
              FS("path", resource), FI("waitMs", wait_ms));
    }
}

int64_t kube_client_throttle(struct kube_client *client, const char *method, const char *path)
{
    if (!client->limited) return 0;
    int64_t wait_ms = token_bucket_take(&client->bucket, now_ms(client));
    rest_metrics_limited(client->metrics, method, wait_ms);
    log_wait(client, wait_ms, method, path);
    return wait_ms;
}

void kube_client_unthrottle(struct kube_client *client, int64_t wait_ms)
{
    if (client->limited) token_bucket_give_back(&client->bucket, wait_ms, now_ms(client));
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}

static bool has_header(const struct http_header *headers, const char *name)
{
    for (; headers && headers->name; headers++)
        if (strcasecmp(headers->name, name) == 0) return true;
    return false;
}

/* Returns the request's own headers, Accept (H-13), and impersonation unless the request has it (T-9). The
 * caller frees the array, not the strings. */
static struct http_header *gather_headers(struct kube_client *client, const struct http_header *own,
                                          const char *accept)
{
    size_t n = 0, count = 0;
    while (own && own[count].name) count++;
    struct http_header *out = xcalloc(count + client->impersonate_count + 2, sizeof *out);
    for (; n < count; n++) out[n] = own[n];
    if (!has_header(own, "Accept"))
        out[n++] = (struct http_header){"Accept", nonempty(accept) ? accept : "application/json, */*"};
    if (has_header(own, "Impersonate-User")) return out;
    for (size_t i = 0; i < client->impersonate_count; i++)
        out[n++] = (struct http_header){client->impersonate[i].name, client->impersonate[i].value};
    return out;
}

struct http_exchange *kube_client_start(struct kube_client *client,
                                        const struct http_request *request_with_path, const char *accept,
                                        const struct http_callbacks *callbacks, struct err *err)
{
    struct http_request request = *request_with_path;
    char *url = xasprintf("%s%s", client->server, request_with_path->url);
    struct http_header *headers = gather_headers(client, request_with_path->headers, accept);
    tls_files_check(client->tls_files);
    request.url = url;
    request.headers = headers;
    request.authorize = !has_header(request_with_path->headers, "Authorization"); /* T-8 */
    request.follow = !request.method || strcmp(request.method, "GET") == 0;       /* H-20 */
    request.no_compression |= client->no_compression;
    struct http_exchange *exchange = transport_start(client->transport, &request, callbacks, err);
    free(headers);
    free(url);
    return exchange;
}

const char *kube_client_plugin_running(const struct kube_client *client, int64_t *since_us)
{
    return credentials_plugin_running(client->credentials, since_us);
}
