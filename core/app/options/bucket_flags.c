/* Flags of buckets; see bucket_flags.h. */
#include "app/options/bucket_flags.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

enum { SECRET_MAX = 64 << 10 };

static const struct flag *table_of(struct bucket_flags *f, struct flag place)
{
    static struct flag table[5];
    const struct flag flags[] = {
        place,
        {"nats-user", 0, FLAG_STRING, &f->user, "NAME", NULL, "User of NATS"},
        {"nats-password-file", 0, FLAG_STRING, &f->password_file, "FILE", NULL,
         "File with the password of --nats-user"},
        {"nats-token-file", 0, FLAG_STRING, &f->token_file, "FILE", NULL, "File with a token of NATS"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

const struct flag *bucket_flags_from(struct bucket_flags *f)
{
    return table_of(f, (struct flag){"from", 0, FLAG_STRING, &f->url, "nats://HOST/BUCKET", NULL,
                                     "Read objects and kinds from this bucket, which kubelua publish writes; "
                                     "the API server is for requests of scripts alone"});
}

const struct flag *bucket_flags_to(struct bucket_flags *f)
{
    return table_of(f, (struct flag){"to", 0, FLAG_STRING, &f->url, "nats://HOST/BUCKET", NULL,
                                     "Bucket of NATS JetStream to write to; it is made if there is none"});
}

static bool read_secret(const char *path, char **out, struct err *err)
{
    struct buf text = {0};
    if (!path) return true;
    if (!file_read(path, SECRET_MAX, &text, err)) return false;
    while (text.len > 0 && isspace((unsigned char)text.data[text.len - 1])) text.len--;
    *out = xstrndup(text.len ? text.data : "", text.len);
    buf_wipe(&text);
    return true;
}

bool bucket_flags_read(const struct bucket_flags *flags, struct bucket_place *place, struct err *err)
{
    struct bucket_target *target = &place->target;
    if (!flags->url) return true;
    if (!(place->module = bucket_module_open(err)) || !bucket_target_read(flags->url, target, err))
        return false;
    if (flags->user) target->user = xstrdup(flags->user);
    return (read_secret(flags->password_file, &target->password, err) ||
            err_wrap(err, "--nats-password-file")) &&
           (read_secret(flags->token_file, &target->token, err) || err_wrap(err, "--nats-token-file"));
}
