/* Flags that name a bucket of NATS, and who reads or writes it. Owner: the command's stack. */
#pragma once
#include "base/cli/flags.h"
#include "engine/bucket/bucket_target.h"

/* Each may be NULL. */
struct bucket_flags {
    const char *name; /* of the flag; set by its table */
    const char *url;
    const char *user, *password_file, *token_file, *credentials_file;
    const char *ca_file, *cert_file, *key_file;
    const char *part; /* of --from */
};

/* Tables as those of options.h: one has --from, the other one --to. */
const struct flag *bucket_flags_from(struct bucket_flags *flags);
const struct flag *bucket_flags_to(struct bucket_flags *flags);
/* Sets no module without a URL. Clear the target in any case. */
bool bucket_flags_read(const struct bucket_flags *flags, struct bucket_place *place, struct err *err);
