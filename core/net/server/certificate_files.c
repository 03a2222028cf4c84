/* Files of certificates; see certificate_files.h. */
#include "net/server/certificate_files.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "net/pem.h"
#include "net/server/self_signed.h"

enum { FILE_MAX = 1 << 20 };

static bool read_both(const struct certificate_files *files, struct buf *certificates, struct buf *key,
                      struct err *err)
{
    return file_read(files->cert_file, FILE_MAX, certificates, err) &&
           file_read(files->key_file, FILE_MAX, key, err);
}

static bool check(const struct certificate_files *files, const struct buf *certificates,
                  const struct buf *key, struct err *err)
{
    if (!pem_check_certificates(buf_slice(certificates), err)) return err_wrap(err, "%s", files->cert_file);
    if (!pem_check_key(buf_slice(key), err)) return err_wrap(err, "%s", files->key_file);
    return pem_check_pair(buf_slice(certificates), buf_slice(key), NULL) ||
           err_set(err, ERR_TLS, "%s: the key is not that of the certificate in %s", files->key_file,
                   files->cert_file);
}

static void take(struct certificate_files *files, struct buf *certificates, struct buf *key)
{
    buf_clear(&files->certificates);
    buf_wipe(&files->key);
    files->certificates = *certificates;
    files->key = *key;
    files->wrong = files->is_told = false;
}

static void make(struct certificate_files *files, const char *name, const char *address)
{
    struct self_signed made;
    self_signed_make(&made, name, NULL, address);
    buf_puts(&files->certificates, made.server);
    buf_reserve(&files->key, strlen(made.key) + 1);
    buf_puts(&files->key, made.key);
    self_signed_clear(&made);
}

bool certificate_files_load(struct certificate_files *files, const char *name, const char *address,
                            struct err *err)
{
    struct buf certificates = {0}, key = {0};
    certificate_files_clear(files);
    if (!files->cert_file) {
        make(files, name, address);
        return true;
    }
    if (read_both(files, &certificates, &key, err) && check(files, &certificates, &key, err)) {
        take(files, &certificates, &key);
        return true;
    }
    buf_clear(&certificates);
    buf_wipe(&key);
    return false;
}

/* Notes that they cannot be used; returns whether the caller must know. */
static bool is_news(struct certificate_files *files)
{
    bool must_tell = files->wrong && !files->is_told;
    files->is_told = files->is_told || must_tell;
    files->wrong = true;
    return must_tell;
}

static bool are_in_use(const struct certificate_files *files, const struct buf *certificates,
                       const struct buf *key)
{
    return str_eq(buf_slice(certificates), buf_slice(&files->certificates)) &&
           str_eq(buf_slice(key), buf_slice(&files->key));
}

enum certificate_news certificate_files_look(struct certificate_files *files, struct err *err)
{
    struct buf certificates = {0}, key = {0};
    enum certificate_news news = CERTIFICATE_SAME;
    if (!files->cert_file) return news;
    bool readable = read_both(files, &certificates, &key, err);
    if (readable && are_in_use(files, &certificates, &key)) {
        files->wrong = files->is_told = false;
    } else if (readable && check(files, &certificates, &key, err)) {
        take(files, &certificates, &key);
        return CERTIFICATE_NEW;
    } else if (is_news(files)) {
        news = CERTIFICATE_WRONG;
    }
    buf_clear(&certificates);
    buf_wipe(&key);
    return news;
}

struct web_certificate certificate_files_in_use(struct certificate_files *files)
{
    return (struct web_certificate){buf_text(&files->certificates), buf_text(&files->key)};
}

void certificate_files_clear(struct certificate_files *files)
{
    buf_clear(&files->certificates);
    buf_wipe(&files->key);
}
