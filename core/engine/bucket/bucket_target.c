/* Buckets as users name them; see bucket_target.h. */
#include "engine/bucket/bucket_target.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/program.h"

enum { URL_MAX = 2048, BUCKET_NAME_MAX = 200, PARTS_MAX = 1000, DIGITS = 15 };

static const char usage[] = "must be nats://HOST[:PORT][,HOST[:PORT]]/BUCKET or tls://";

static bool is_bucket(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '-' && name.p[i] != '_') return false;
    return name.n > 0 && name.n <= BUCKET_NAME_MAX;
}

bool bucket_target_read(const char *url, struct bucket_target *target, struct err *err)
{
    struct str rest = str_of(url), scheme, servers;
    *target = (struct bucket_target){0};
    bool is_url = str_cut(&rest, ':', &scheme) && str_starts(rest, STR("//")) &&
                  (str_is(scheme, "nats") || str_is(scheme, "tls"));
    if (!is_url) return err_set(err, ERR_INVALID, "%s", usage);
    if (strlen(url) > URL_MAX) return err_set(err, ERR_INVALID, "must have at most %d characters", URL_MAX);
    /* The URL is not shown: it has a password. */
    if (strchr(url, '@')) return err_set(err, ERR_INVALID, "%s, without a user and a password", usage);
    rest = (struct str){rest.p + 2, rest.n - 2};
    bool has_bucket = memchr(rest.p, '/', rest.n) != NULL;
    if (!str_cut(&rest, '/', &servers) || !has_bucket || servers.n == 0 || strchr(url, ' '))
        return err_set(err, ERR_INVALID, "\"%s\": %s", url, usage);
    if (!is_bucket(rest))
        return err_set(err, ERR_INVALID,
                       "\"%s\": a bucket's name has at most %d letters, digits, dashes and underscores", url,
                       BUCKET_NAME_MAX);
    target->is_tls = str_is(scheme, "tls");
    target->servers = xstrndup(servers.p, servers.n);
    target->bucket = xstrndup(rest.p, rest.n);
    target->shown = xstrdup(url);
    return true;
}

bool bucket_part_read(const char *text, struct bucket_place *place, struct err *err)
{
    uint64_t part, parts;
    struct str rest = str_of(text), first;
    if (str_cut(&rest, '/', &first) && str_to_u64(first, &part) && str_to_u64(rest, &parts) && part < parts &&
        parts <= PARTS_MAX) {
        place->part = (unsigned)part;
        place->parts = (unsigned)parts;
        return true;
    }
    return err_set(err, ERR_INVALID, "\"%s\": must be I/N, where I is from 0 to N-1 and N at most %d", text,
                   PARTS_MAX);
}

/* Not by the slots of shards: names that differ in their last letters alone are mostly in the same one. */
bool bucket_part_has(const struct bucket_place *place, struct str ns)
{
    char hash[33];
    if (place->parts == 0 || ns.n == 0) return true;
    hash_lasting(ns, hash);
    hash[DIGITS] = '\0';
    return strtoull(hash, NULL, 16) % place->parts == place->part;
}

void bucket_target_clear(struct bucket_target *target)
{
    free(target->servers);
    free(target->bucket);
    free(target->user);
    wipe(target->password);
    wipe(target->token);
    wipe(target->credentials);
    free(target->ca);
    free(target->cert);
    wipe(target->cert_key);
    for (int i = 0; i < STREAM_FILES; i++) free(target->files[i]);
    free(target->shown);
    *target = (struct bucket_target){0};
}

const struct bucket_module *bucket_module_open(struct err *err)
{
    return program_module_open("nats_bucket", BUCKET_MODULE_SYMBOL, BUCKET_MODULE_VERSION, "nats", err);
}

static void *open_client(const struct bucket_module *module, const struct bucket_target *target,
                         const char *name, struct stream_error *error)
{
    struct stream_settings settings = {.servers = target->servers,
                                       .path = target->bucket,
                                       .is_tls = target->is_tls,
                                       .ca = target->ca,
                                       .cert = target->cert,
                                       .cert_key = target->cert_key,
                                       .user = target->user,
                                       .password = target->password,
                                       .token = target->token,
                                       .credentials = target->credentials,
                                       .name = name};
    for (int i = 0; i < STREAM_FILES; i++) settings.files[i] = target->files[i];
    return module->open(&settings, error);
}

bool bucket_target_check(const struct bucket_module *module, const struct bucket_target *target,
                         struct err *err)
{
    struct stream_error error = {""};
    void *client = open_client(module, target, NULL, &error);
    if (!client) return err_set(err, ERR_INVALID, "%s", error.text);
    module->close(client);
    return true;
}

void *bucket_client_open(const struct bucket_module *module, const struct bucket_target *target,
                         const char *name)
{
    struct stream_error error;
    void *client = open_client(module, target, name, &error);
    must(client);
    return client;
}
