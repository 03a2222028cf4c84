/* Reading scripts from standard input and from servers; see given_scripts.h. */
#include "app/options/given_scripts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/fetch.h"
#include "script/vm/bundle.h"

enum { STDIN_MAX = 16 << 20, STDIN_BLOCK = 64 << 10, FETCH_MAX = 1 << 20, FETCH_TIMEOUT_MS = 30000 };

#define STDIN_PATH "stdin"
#define DIGEST     "#sha256="

static bool give_stdin(struct err *err)
{
    struct buf text = {0};
    ssize_t n = 1;
    bool ok = !bundle_is_given(STDIN_PATH) || err_set(err, ERR_INVALID, "-: standard input is given twice");
    while (ok && n > 0) {
        n = read(STDIN_FILENO, buf_reserve(&text, STDIN_BLOCK), STDIN_BLOCK);
        if (n > 0) text.len += (size_t)n;
        if (n < 0 && errno == EINTR) n = 1;
        if (n < 0) ok = err_set(err, ERR_IO, "-: cannot read standard input: %s", strerror(errno));
        if (text.len > STDIN_MAX) ok = err_set(err, ERR_LIMIT, "-: standard input exceeds 16 MiB");
    }
    if (ok && text.len == 0) ok = err_set(err, ERR_INVALID, "-: standard input is empty");
    if (ok) bundle_give_text(STDIN_PATH, buf_slice(&text));
    buf_clear(&text);
    return ok;
}

/* The URL without query and fragment, which may hold secrets; malloc'ed. A user is left out, too. */
static char *shown(const char *url)
{
    const char *host = strstr(url, "://") + 3, *at = host;
    size_t length = strcspn(host, "?#"), authority = strcspn(host, "/?#");
    for (size_t i = 0; i < authority; i++)
        if (host[i] == '@') at = host + i + 1;
    return xasprintf("https://%.*s", (int)(host + length - at), at);
}

static bool is_digest(const char *hex)
{
    return strlen(hex) == BUNDLE_HASH_LEN && strspn(hex, "0123456789abcdefABCDEF") == BUNDLE_HASH_LEN;
}

/* `path` is what is shown of the URL. */
static bool give_url(const char *argument, const char *path, struct err *err)
{
    char digest[BUNDLE_HASH_LEN + 1], *fragment = strchr(argument, '#');
    if (!fragment || strncmp(fragment, DIGEST, strlen(DIGEST)) != 0 || !is_digest(fragment + strlen(DIGEST)))
        return err_set(err, ERR_INVALID, "the URL must end with " DIGEST " and 64 hexadecimal digits");
    if (bundle_is_given(path)) return err_set(err, ERR_INVALID, "the URL is given twice");
    char *url = xstrndup(argument, (size_t)(fragment - argument));
    struct buf text = {0};
    bool ok = fetch(&(const struct fetch_options){url, FETCH_MAX, FETCH_TIMEOUT_MS, {0}}, &text, err);
    free(url);
    if (ok) {
        bundle_text_hash(buf_slice(&text), digest);
        ok = strcasecmp(digest, fragment + strlen(DIGEST)) == 0 ||
             err_set(err, ERR_INVALID, "the digest is not that of the file, which is sha256=%s", digest);
    }
    if (ok) bundle_give_text(path, buf_slice(&text));
    buf_clear(&text);
    return ok;
}

static bool resolve_url(const char **argument, struct err *err)
{
    char *path = shown(*argument);
    bool ok = give_url(*argument, path, err) || err_wrap(err, "%s", path);
    if (ok) *argument = bundle_given_path(path);
    free(path);
    return ok;
}

static bool is_stdin(const char *argument)
{
    return strcmp(argument, "-") == 0;
}

/* Schemes of URLs may be in any case. */
static bool has_scheme(const char *argument, const char *scheme)
{
    return strncasecmp(argument, scheme, strlen(scheme)) == 0;
}

bool given_scripts_resolve(struct flag_list *files, struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        if (is_stdin(files->items[i])) {
            if (!give_stdin(err)) return false;
            files->items[i] = bundle_given_path(STDIN_PATH);
        } else if (has_scheme(files->items[i], "https://")) {
            if (!resolve_url(&files->items[i], err)) return false;
        } else if (has_scheme(files->items[i], "http://")) {
            return err_set(err, ERR_INVALID, "-f: scripts are fetched over https:// only");
        }
    }
    return true;
}
