/* Impersonation headers; see impersonate.h. */
#include "kube/config/impersonate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* The name of a header may hold only these (RFC 9110's token); '%' is left out because it begins an escape.
 */
static bool is_token(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$&'*+-.^_`|~", c));
}

/* Lower-cased, and percent-escaped where not a legal token. */
static char *extra_name(const char *key)
{
    struct buf name = {0};
    buf_puts(&name, "Impersonate-Extra-");
    for (; *key; key++) {
        char c = (char)tolower((unsigned char)*key);
        if (is_token(c))
            buf_putc(&name, c);
        else
            buf_printf(&name, "%%%02X", (unsigned char)c);
    }
    return buf_take(&name);
}

static void add(struct cluster_config *out, char *name, const char *value)
{
    out->impersonate = xrealloc(out->impersonate, (out->impersonate_count + 1) * sizeof *out->impersonate);
    out->impersonate[out->impersonate_count++] = (struct cluster_header){name, xstrdup(value)};
}

void impersonate_headers(const struct kubeconfig_user *user, struct cluster_config *out)
{
    if (!user->as) return;
    add(out, xstrdup("Impersonate-User"), user->as);
    if (user->as_uid) add(out, xstrdup("Impersonate-Uid"), user->as_uid);
    for (size_t i = 0; i < user->as_more_count; i++) {
        const struct kubeconfig_pair *more = &user->as_more[i];
        add(out, *more->key ? extra_name(more->key) : xstrdup("Impersonate-Group"), more->value);
    }
}
