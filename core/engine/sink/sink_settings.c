/* Copies of the settings of a sink, for the thread that delivers. */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/sink/sink_internal.h"

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct sink_settings *sink_settings_copy(const struct sink_config *config)
{
    struct sink_settings *settings = NEW(struct sink_settings);
    settings->config = *config;
    settings->headers = xcalloc(2 * config->header_count + 1, sizeof(char *));
    for (size_t i = 0; i < 2 * config->header_count; i++) settings->headers[i] = xstrdup(config->headers[i]);
    settings->config.headers = (const char *const *)settings->headers;
    settings->config.script = xstrdup(config->script);
    settings->config.name = xstrdup(config->name);
    settings->config.to = xstrdup(config->to);
    for (int i = 0; i < SINK_TEXTS; i++) settings->config.access[i] = copy(config->access[i]);
    return settings;
}

void sink_settings_free(struct sink_settings *settings)
{
    if (!settings) return;
    for (char **text = settings->headers; *text; text++) wipe(*text);
    free(settings->headers);
    free((char *)settings->config.script);
    free((char *)settings->config.name);
    free((char *)settings->config.to);
    for (int i = 0; i < SINK_TEXTS; i++) wipe((char *)settings->config.access[i]);
    free(settings);
}
