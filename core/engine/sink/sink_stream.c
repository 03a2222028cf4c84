/* Delivery by a module of the package kubelua-streams, which is opened when the first sink needs it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/program.h"
#include "engine/sink/sink_internal.h"
#include "streams/stream_module.h"

struct stream_delivery {
    struct sink_delivery base;
    struct sink *sink;
    const struct stream_module *module;
    void *client;
};

/* --- modules */

static const char *module_name(enum sink_scheme scheme)
{
    return sink_scheme_name(sink_scheme_is_nats(scheme) ? SINK_NATS : SINK_KAFKA);
}

bool sink_stream_check(enum sink_scheme scheme, struct err *err)
{
    char *path = program_module(module_name(scheme));
    bool is_there = path != NULL;
    free(path);
    return is_there || program_module_missing(sink_scheme_name(scheme), err);
}

static const struct stream_module *open_module(enum sink_scheme scheme, struct err *err)
{
    return program_module_open(module_name(scheme), STREAM_MODULE_SYMBOL, STREAM_MODULE_VERSION,
                               sink_scheme_name(scheme), err);
}

/* --- delivery */

static void deliver(struct sink_delivery *base, const struct sink_event *events, size_t count,
                    struct sink_result *result)
{
    static const enum sink_outcome outcomes[] = {
        [STREAM_DELIVERED] = SINK_DELIVERED, [STREAM_RETRY] = SINK_RETRY, [STREAM_REFUSED] = SINK_REFUSED};
    struct stream_delivery *delivery = container_of(base, struct stream_delivery, base);
    struct stream_event *given = xcalloc(count, sizeof *given);
    struct stream_error error = {""};
    for (size_t i = 0; i < count; i++)
        given[i] = (struct stream_event){.id = xstrndup(events[i].id.p, events[i].id.n),
                                         .key = events[i].key.p,
                                         .key_size = events[i].key.n,
                                         .json = events[i].json.p,
                                         .json_size = events[i].json.n};
    module_thread_enter(&delivery->sink->sender);
    enum stream_outcome outcome =
        delivery->module->deliver(delivery->client, given, count, &delivery->sink->stream_ends, &error);
    module_thread_return(&delivery->sink->sender);
    for (size_t i = 0; i < count; i++) free((char *)given[i].id);
    free(given);
    sink_result_set(result, outcomes[outcome]);
    if (outcome != STREAM_DELIVERED) err_set(&result->err, ERR_CONNECT, "%s", error.text);
}

static void free_stream(struct sink_delivery *base)
{
    struct stream_delivery *delivery = container_of(base, struct stream_delivery, base);
    module_thread_enter(&delivery->sink->sender);
    delivery->module->close(delivery->client);
    module_thread_return(&delivery->sink->sender);
    free(delivery);
}

static void *open_client(const struct stream_module *module, const struct sink_config *config,
                         const struct sink_target *target, struct stream_error *error)
{
    char *servers = xstrndup(target->servers.p, target->servers.n),
         *path = xstrndup(target->path.p, target->path.n);
    const char *const *access = config->access;
    void *client = module->open(&(const struct stream_settings){.servers = servers,
                                                                .path = path,
                                                                .is_tls = sink_scheme_is_tls(target->scheme),
                                                                .ca = access[SINK_CA],
                                                                .cert = access[SINK_CERT],
                                                                .cert_key = access[SINK_CERT_KEY],
                                                                .user = access[SINK_USER],
                                                                .password = access[SINK_PASSWORD],
                                                                .token = access[SINK_TOKEN],
                                                                .credentials = access[SINK_CREDENTIALS],
                                                                .mechanism = access[SINK_MECHANISM],
                                                                .name = "kubelua",
                                                                .timeout_ms = (int)config->timeout_ms},
                                error);
    free(servers);
    free(path);
    return client;
}

struct sink_delivery *sink_stream_new(struct sink *sink, const struct sink_config *config, struct err *err)
{
    struct sink_target target;
    struct stream_error error = {""};
    if (!sink_target_read(config->to, &target, err)) return NULL;
    const struct stream_module *module = open_module(target.scheme, err);
    if (!module) return NULL;
    void *client = open_client(module, config, &target, &error);
    if (!client) {
        err_set(err, ERR_INVALID, "%s", error.text);
        return NULL;
    }
    struct stream_delivery *delivery = NEW(struct stream_delivery);
    *delivery = (struct stream_delivery){
        .base = {deliver, free_stream}, .sink = sink, .module = module, .client = client};
    return &delivery->base;
}
