/* The listener for webhooks of scripts: an HTTPS server (net/server/web_server.h) that is there while a
 * script has a webhook, and hands requests to the engine thread. Owner: the engine, on its thread; scripts
 * end before webhook_listener_end.
 */
#pragma once
#include "base/err.h"
#include "net/loop.h"
#include "script/work/webhook_paths.h"

struct webhook_listener;

/* Borrowed. */
struct webhook_listener_options {
    struct loop *loop;
    const char *address;                  /* as bind_address.h takes it */
    const char *cert_file, *key_file;     /* NULL: a certificate made here, for development */
    const char *address_name, *cert_name; /* of these settings, in messages */
};

/* Listens to nothing yet. */
struct webhook_listener *webhook_listener_new(const struct webhook_listener_options *options);
/* Of the scripts of the engine; borrowed. */
struct webhook_paths *webhook_listener_paths(struct webhook_listener *listener);
/* Returns where it listens; "": it does not. */
const char *webhook_listener_where(const struct webhook_listener *listener);
/* Requests are refused from now on, and the listener stays until its end. NULL is allowed, here and below. */
void webhook_listener_stop(struct webhook_listener *listener);
/* Requests are refused, and those that were answered are sent. */
void webhook_listener_end(struct webhook_listener *listener);
void webhook_listener_free(struct webhook_listener *listener);
