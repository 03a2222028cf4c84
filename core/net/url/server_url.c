/* Server addresses by libcurl's URL parser; see server_url.h. */
#include "net/url/server_url.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Returns whether a forbidden part is there. Its content is not printed: a password must not end in a log. */
static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool there = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return there;
}

static bool check(CURLU *url, struct err *err)
{
    char *scheme = NULL;
    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    bool known = scheme && (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0);
    if (!known) err_set(err, ERR_INVALID, "scheme \"%s\" is neither https nor http", scheme ? scheme : "");
    curl_free(scheme);
    if (known && (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD)))
        return err_set(err, ERR_INVALID, "user names in the address are not supported");
    return known;
}

static char *take_text(CURLU *url)
{
    char *text = NULL;
    curl_url_set(url, CURLUPART_QUERY, NULL, 0);
    curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
    if (curl_url_get(url, CURLUPART_URL, &text, 0)) return NULL;
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '/') len--;
    char *own = xstrndup(text, len);
    curl_free(text);
    return own;
}

bool server_url_parse(const char *text, bool default_tls, char **out, struct err *err)
{
    CURLU *url = curl_url();
    char *full =
        strstr(text, "://") ? xstrdup(text) : xasprintf("%s://%s", default_tls ? "https" : "http", text);
    CURLUcode rc = curl_url_set(url, CURLUPART_URL, full, CURLU_NON_SUPPORT_SCHEME);
    free(full);
    bool ok = rc ? err_set(err, ERR_INVALID, "bad address: %s", curl_url_strerror(rc)) : check(url, err);
    if (ok) *out = take_text(url);
    curl_url_cleanup(url);
    return ok;
}
