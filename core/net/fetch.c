/* Fetching one file; see fetch.h. */
#include "net/fetch.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/web.h"

struct fetched {
    struct loop *loop;
    size_t body_max;
    struct buf *out;
    struct err *err;
    bool ok;
};

static void on_done(void *ctx, const struct web_reply *reply, const struct err *err)
{
    struct fetched *fetched = ctx;
    fetched->ok = reply && reply->status == 200;
    if (fetched->ok)
        buf_str(fetched->out, reply->body);
    else if (reply)
        err_set(fetched->err, ERR_HTTP, "the server answered with status %d, not 200", reply->status);
    else if (strcmp(err->reason, "Forbidden") == 0)
        err_set(fetched->err, ERR_INVALID, "the server redirects to another server, which is not followed");
    else if (err->code == ERR_LIMIT && str_starts(str_of(err->text), STR("the response exceeds")))
        err_set(fetched->err, ERR_LIMIT, "the file exceeds %zu bytes", fetched->body_max);
    else
        *fetched->err = *err;
    loop_stop(fetched->loop);
}

/* The server of a URL as web_allow_new takes it, malloc'ed. */
static char *server_of(const char *text, struct err *err)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *user = NULL, *server = NULL;
    CURLU *url = curl_url();
    CURLUcode rc = curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    if (!rc) rc = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_HOST, &host, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (rc || strcmp(scheme, "https") != 0)
        err_set(err, ERR_INVALID, "no URL: it must begin with https:// and a host");
    else if (!curl_url_get(url, CURLUPART_USER, &user, 0))
        err_set(err, ERR_INVALID, "a URL with a user is not supported");
    else
        server = xasprintf("https://%s:%s", host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(user);
    curl_url_cleanup(url);
    return server;
}

static bool run(const struct fetch_options *options, struct web_allow *allow, struct fetched *fetched)
{
    struct web *web = web_new(&(const struct web_options){.engine_loop = fetched->loop,
                                                          .io_loop = fetched->loop,
                                                          .allow = allow,
                                                          .user_agent = "kubelua/" KUBELUA_VERSION,
                                                          .ca_pem = options->ca_pem});
    struct web_call *call = web_start(web,
                                      &(const struct web_call_request){.method = "GET",
                                                                       .url = options->url,
                                                                       .timeout_ms = options->timeout_ms,
                                                                       .body_max = options->body_max},
                                      on_done, fetched);
    loop_run(fetched->loop);
    web_close(call);
    web_end(web);
    web_free(web);
    return fetched->ok;
}

bool fetch(const struct fetch_options *options, struct buf *out, struct err *err)
{
    char *server = server_of(options->url, err);
    if (!server) return false;
    struct web_allow *allow = web_allow_new((const char *const[]){server}, 1, err);
    free(server);
    if (!allow) return false;
    struct fetched fetched = {
        .loop = loop_new_alone(), .body_max = options->body_max, .out = out, .err = err};
    bool ok = run(options, allow, &fetched);
    loop_free(fetched.loop);
    return ok;
}
