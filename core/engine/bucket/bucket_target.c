/* Buckets as users name them; see bucket_target.h. */
#include "engine/bucket/bucket_target.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/program.h"

enum { BUCKET_NAME_MAX = 200 };

static const char usage[] = "must be nats://HOST[:PORT][,HOST[:PORT]]/BUCKET";

static bool is_bucket(const char *name)
{
    size_t n = strlen(name);
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
    return n > 0 && n <= BUCKET_NAME_MAX;
}

bool bucket_target_read(const char *url, struct bucket_target *target, struct err *err)
{
    static const char scheme[] = "nats://";
    const char *servers = url + strlen(scheme), *slash;
    *target = (struct bucket_target){0};
    if (strncmp(url, scheme, strlen(scheme)) != 0) return err_set(err, ERR_INVALID, "%s", usage);
    /* The URL is not shown: it has a password. */
    if (strchr(url, '@')) return err_set(err, ERR_INVALID, "%s, without a user and a password", usage);
    slash = strchr(servers, '/');
    if (!slash || slash == servers || strchr(servers, ' '))
        return err_set(err, ERR_INVALID, "\"%s\": %s", url, usage);
    if (!is_bucket(slash + 1))
        return err_set(err, ERR_INVALID,
                       "\"%s\": a bucket's name has at most %d letters, digits, dashes and underscores", url,
                       BUCKET_NAME_MAX);
    target->servers = xstrndup(servers, (size_t)(slash - servers));
    target->bucket = xstrdup(slash + 1);
    target->shown = xstrdup(url);
    return true;
}

static void free_secret(char *secret)
{
    if (secret) explicit_bzero(secret, strlen(secret));
    free(secret);
}

void bucket_target_clear(struct bucket_target *target)
{
    free(target->servers);
    free(target->bucket);
    free(target->user);
    free_secret(target->password);
    free_secret(target->token);
    free(target->shown);
    *target = (struct bucket_target){0};
}

const struct bucket_module *bucket_module_open(struct err *err)
{
    char *path = program_module("nats_bucket");
    if (!path) {
        err_set(err, ERR_NOT_FOUND, "nats:// needs the package kubelua-streams, which is not installed");
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct bucket_module *module = library ? dlsym(library, BUCKET_MODULE_SYMBOL) : NULL;
    if (!module)
        err_set(err, ERR_IO, "nats:// has no client: %s", dlerror());
    else if (module->version != BUCKET_MODULE_VERSION) {
        err_set(err, ERR_IO,
                "%s is of version %d, not %d: kubelua-streams and kubelua must be of one version", path,
                module->version, BUCKET_MODULE_VERSION);
        module = NULL;
    }
    free(path);
    return module;
}

void *bucket_client_open(const struct bucket_module *module, const struct bucket_target *target,
                         const char *name)
{
    return module->open(&(const struct bucket_settings){.servers = target->servers,
                                                        .bucket = target->bucket,
                                                        .user = target->user,
                                                        .password = target->password,
                                                        .token = target->token,
                                                        .name = name});
}
