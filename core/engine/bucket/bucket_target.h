/* The bucket that users name, nats://HOST[:PORT][,HOST...]/BUCKET, and the module that reads and writes it.
 * Owner: the holder of the struct. Any thread. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "streams/bucket_module.h"

struct bucket_target {
    char *servers, *bucket;
    char *user, *password, *token; /* NULL: none */
    char *shown;                   /* for texts: "nats://HOST/BUCKET" */
};

/* Reads the URL; who logs in is set by the caller. */
bool bucket_target_read(const char *url, struct bucket_target *target, struct err *err);
void bucket_target_clear(struct bucket_target *target);
/* NULL: the package is not installed, or of another version. */
const struct bucket_module *bucket_module_open(struct err *err);
/* A client of the module for one thread; `name` is for the server. */
void *bucket_client_open(const struct bucket_module *module, const struct bucket_target *target,
                         const char *name);
