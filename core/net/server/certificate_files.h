/* Certificate and key of a server from files that are followed, as a mounted Secret is renewed, or made here
 * for development. Owner: its creator, on one thread. Reads small files, which blocks on the disk. Messages
 * never show content. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/server/web_server.h"

struct certificate_files {
    const char *cert_file, *key_file; /* borrowed; NULL: made here */
    struct buf certificates, key;     /* in use */
    bool wrong, is_told;              /* the files cannot be used, since the last look; the caller knows */
};

/* Reads the files, or makes a certificate for `name` and the address. ERR_TLS, ERR_IO or ERR_NOT_FOUND, with
 * the file in the message. */
bool certificate_files_load(struct certificate_files *files, const char *name, const char *address,
                            struct err *err);
enum certificate_news { CERTIFICATE_SAME, CERTIFICATE_NEW, CERTIFICATE_WRONG };
/* Looks whether the files have changed. CERTIFICATE_WRONG, with err, once, if they cannot be
 * used at two looks in a row: one of them may be about to be written. What is in use stays. */
enum certificate_news certificate_files_look(struct certificate_files *files, struct err *err);
/* Borrowed until the next look. */
struct web_certificate certificate_files_in_use(struct certificate_files *files);
void certificate_files_clear(struct certificate_files *files);
