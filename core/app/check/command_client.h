/* Blocking API client of commands: discovery, access reviews and documents.
 * Owner: the command, on the main thread. Every call blocks: for commands only. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "kube/api/access_review.h"
#include "kube/config/kubeconfig.h"
#include "kube/kinds/resource.h"

struct command_client;

struct command_client_options {
    const struct cluster_config *cluster; /* borrowed */
    int64_t request_timeout_ms;           /* --request-timeout, of each request; 0: none */
    int64_t timeout_ms;                   /* for a call of several requests, if that is not longer */
};

/* NULL with an error when the configuration cannot be used. */
struct command_client *command_client_new(const struct command_client_options *options, struct err *err);
/* A new reference; NULL with an error when no response came in time. */
struct catalogue *command_client_kinds(struct command_client *client, struct err *err);
/* Sends the access checks and stores their results; returns false with an error if one got no response. */
bool command_client_access(struct command_client *client, struct access_check *checks, size_t count,
                           struct err *err);
/* Appends the response of a GET of a path, with padding for a parser behind it; returns false with an error.
 */
bool command_client_get(struct command_client *client, const char *path, struct buf *out, struct err *err);
void command_client_free(struct command_client *client);

/* Of one that is made for this call alone. */
struct catalogue *refresh_kinds(const struct command_client_options *options, struct err *err);
/* Returns whether the flags name a server, and do not leave it to the environment. */
bool names_a_server(const struct cluster_flags *flags);
