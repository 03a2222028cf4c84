/* Where redirects lead, and which headers do not follow; see redirect.h (H-20). */
#include "net/redirect.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

bool redirect_is(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static char *url_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return NULL;
    char *copy = xstrdup(text);
    curl_free(text);
    return copy;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = url_part(a, part), *y = url_part(b, part);
    bool same = x && y && strcasecmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static bool check_scheme(const char *from, const char *to, struct err *err)
{
    bool is_tls = strncasecmp(to, "https:", 6) == 0;
    if (!is_tls && strncasecmp(to, "http:", 5) != 0)
        return err_set(err, ERR_INVALID, "the server redirects to a URL that is not HTTP");
    return is_tls || strncasecmp(from, "https:", 6) != 0 ||
           err_set(err, ERR_INVALID, "the server redirects from https to http");
}

char *redirect_url(const char *from, const char *location, bool *same, struct err *err)
{
    CURLU *old = curl_url(), *url = curl_url();
    char *next = NULL;
    if (curl_url_set(old, CURLUPART_URL, from, CURLU_PATH_AS_IS) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, from, CURLU_PATH_AS_IS) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, location, 0) == CURLUE_OK)
        next = url_part(url, CURLUPART_URL);
    else
        err_set(err, ERR_PARSE, "the server redirects to an invalid URL");
    *same = same_part(old, url, CURLUPART_SCHEME) && same_part(old, url, CURLUPART_HOST) &&
            same_part(old, url, CURLUPART_PORT);
    curl_url_cleanup(old);
    curl_url_cleanup(url);
    if (!next || check_scheme(from, next, err)) return next;
    free(next);
    return NULL;
}

bool redirect_drops(const char *name)
{
    static const char *const words[] = {"auth", "cookie",     "token",   "secret",    "key",
                                        "pass", "credential", "session", "signature", "impersonate"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasestr(name, words[i])) return true;
    return false;
}
