/* Flags of buckets; see bucket_flags.h. */
#include "app/options/bucket_flags.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

enum { SECRET_MAX = 64 << 10 };

static const struct flag *table_of(struct bucket_flags *f, struct flag place, struct flag part)
{
    static struct flag table[10];
    const struct flag flags[] = {
        place,
        {"nats-user", 0, FLAG_STRING, &f->user, "NAME", NULL, "User of NATS"},
        {"nats-password-file", 0, FLAG_STRING, &f->password_file, "FILE", NULL,
         "File with the password of --nats-user"},
        {"nats-token-file", 0, FLAG_STRING, &f->token_file, "FILE", NULL, "File with a token of NATS"},
        {"nats-creds-file", 0, FLAG_STRING, &f->credentials_file, "FILE", NULL,
         "Credentials of NATS: a JWT with its seed"},
        {"nats-ca-file", 0, FLAG_STRING, &f->ca_file, "FILE", NULL,
         "Certificates of the authorities of tls:// (default: the system's)"},
        {"nats-cert-file", 0, FLAG_STRING, &f->cert_file, "FILE", NULL,
         "Certificate of this client for tls://, in PEM"},
        {"nats-key-file", 0, FLAG_STRING, &f->key_file, "FILE", NULL, "Private key of that certificate"},
        part,
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *bucket_flags_from(struct bucket_flags *f)
{
    f->name = "--from";
    return table_of(
        f,
        (struct flag){
            "from", 0, FLAG_STRING, &f->url, "nats://HOST/BUCKET", NULL,
            "Read objects and kinds from this bucket, which kubelua publish writes; the API server is "
            "for requests of scripts alone"},
        (struct flag){"partition", 0, FLAG_STRING, &f->part, "I/N", NULL,
                      "Of kinds with namespaces, read those namespaces that belong to engine I (from 0) of N "
                      "(default: all)"});
}

const struct flag *bucket_flags_to(struct bucket_flags *f)
{
    f->name = "--to";
    return table_of(f,
                    (struct flag){"to", 0, FLAG_STRING, &f->url, "nats://HOST/BUCKET", NULL,
                                  "Bucket of NATS JetStream to write to; it is made if there is none"},
                    (struct flag){NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL});
}

/* Without line ends at the end, which are no part of a password. The client reads the file again. */
static bool read_text(const char *flag, const char *path, char **out, char **file, struct err *err)
{
    struct buf text = {0};
    if (!path) return true;
    *file = xstrdup(path);
    if (!file_read(path, SECRET_MAX, &text, err)) return err_wrap(err, "%s", flag);
    while (text.len > 0 && isspace((unsigned char)text.data[text.len - 1])) text.len--;
    *out = xstrndup(text.len ? text.data : "", text.len);
    buf_wipe(&text);
    return true;
}

static bool read_login(const struct bucket_flags *f, struct bucket_target *target, struct err *err)
{
    if (f->user) target->user = xstrdup(f->user);
    const struct {
        const char *flag, *path;
        char **text;
    } files[STREAM_FILES] = {
        [STREAM_FILE_PASSWORD] = {"--nats-password-file", f->password_file, &target->password},
        [STREAM_FILE_TOKEN] = {"--nats-token-file", f->token_file, &target->token},
        [STREAM_FILE_CREDENTIALS] = {"--nats-creds-file", f->credentials_file, &target->credentials},
        [STREAM_FILE_CA] = {"--nats-ca-file", f->ca_file, &target->ca},
        [STREAM_FILE_CERT] = {"--nats-cert-file", f->cert_file, &target->cert},
        [STREAM_FILE_CERT_KEY] = {"--nats-key-file", f->key_file, &target->cert_key},
    };
    for (int i = 0; i < STREAM_FILES; i++)
        if (!read_text(files[i].flag, files[i].path, files[i].text, &target->files[i], err)) return false;
    return true;
}

static bool check(const struct bucket_flags *f, struct err *err)
{
    if (f->part && !f->url) return err_set(err, ERR_INVALID, "--partition requires --from");
    if (!f->cert_file != !f->key_file)
        return err_set(err, ERR_INVALID, "--nats-cert-file and --nats-key-file are required together");
    if (!f->user != !f->password_file)
        return err_set(err, ERR_INVALID, "--nats-user and --nats-password-file are required together");
    return true;
}

bool bucket_flags_read(const struct bucket_flags *flags, struct bucket_place *place, struct err *err)
{
    struct bucket_target *target = &place->target;
    if (!check(flags, err)) return false;
    if (!flags->url) return true;
    if (flags->part && !bucket_part_read(flags->part, place, err)) return err_wrap(err, "--partition");
    if (!(place->module = bucket_module_open(err)) || !bucket_target_read(flags->url, target, err))
        return err_wrap(err, "%s", flags->name);
    return read_login(flags, target, err) && bucket_target_check(place->module, target, err);
}
