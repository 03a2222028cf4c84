/* The bucket that users name, nats://HOST[:PORT][,HOST...]/BUCKET, or tls:// for encrypted connections, and
 * the module that reads and writes it. Owner: the holder of the struct. Any thread. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "streams/bucket_module.h"

struct bucket_target {
    char *servers, *bucket;
    bool is_tls;
    char *user, *password, *token, *credentials, *ca, *cert, *cert_key; /* as of a stream; NULL: none */
    char *files[STREAM_FILES]; /* where these are from; NULL: no file */
    char *shown;               /* for texts: the URL */
};

/* Where objects come from. */
struct bucket_place {
    struct bucket_target target;
    const struct bucket_module *module; /* NULL: the server */
    /* Of kinds with namespaces, the objects of those namespaces that belong to this one of `parts`; 0: of
     * all. */
    unsigned part, parts;
};

/* Reads the URL; who logs in is set by the caller. */
bool bucket_target_read(const char *url, struct bucket_target *target, struct err *err);
/* Reads "I/N", I from 0. */
bool bucket_part_read(const char *text, struct bucket_place *place, struct err *err);
/* Whether objects of the namespace are among those of the part. */
bool bucket_part_has(const struct bucket_place *place, struct str ns);
void bucket_target_clear(struct bucket_target *target);
/* NULL: the package is not installed, or of another version. */
const struct bucket_module *bucket_module_open(struct err *err);
/* Returns whether logins and certificates are well-formed. */
bool bucket_target_check(const struct bucket_module *module, const struct bucket_target *target,
                         struct err *err);
/* A client of the module for one thread; `name` is for the server. The target was checked. */
void *bucket_client_open(const struct bucket_module *module, const struct bucket_target *target,
                         const char *name);
