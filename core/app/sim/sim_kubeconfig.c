/* Kubeconfig of the simulator; see sim_kubeconfig.h. */
#include "app/sim/sim_kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text/base64.h"

static void write_cluster(const struct sim_kubeconfig *config, struct buf *out)
{
    buf_printf(out, "clusters:\n- name: kubelua-sim\n  cluster:\n    server: %s\n", config->server);
    if (!config->ca.n) return;
    buf_puts(out, "    certificate-authority-data: ");
    base64_encode(config->ca, out);
    buf_putc(out, '\n');
}

static void write_user(const struct sim_kubeconfig *config, struct buf *out)
{
    if (!config->token) {
        buf_puts(out, "users:\n- name: kubelua-sim\n  user: {}\n");
        return;
    }
    buf_puts(out, "users:\n- name: kubelua-sim\n  user:\n    token: ");
    buf_json_string(out, str_of(config->token));
    buf_putc(out, '\n');
}

static void write_text(const struct sim_kubeconfig *config, struct buf *out)
{
    buf_puts(out, "apiVersion: v1\nkind: Config\ncurrent-context: kubelua-sim\n");
    write_cluster(config, out);
    write_user(config, out);
    buf_puts(out, "contexts:\n- name: kubelua-sim\n  context:\n    cluster: kubelua-sim\n"
                  "    user: kubelua-sim\n    namespace: default\n");
}

/* A reader never sees half a file: the complete one takes the place of the old one. */
static bool replace(const char *path, struct str text, struct err *err)
{
    char *fresh = xasprintf("%s.XXXXXX", path);
    int fd = mkstemp(fresh); /* 0600 */
    bool ok = fd >= 0 && file_write(fd, text);
    if (fd >= 0 && close(fd) != 0) ok = false;
    ok = ok && rename(fresh, path) == 0;
    if (!ok) err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (!ok && fd >= 0) unlink(fresh);
    free(fresh);
    return ok;
}

bool sim_kubeconfig_write(const struct sim_kubeconfig *config, const char *path, struct err *err)
{
    struct buf text = {0};
    write_text(config, &text);
    bool ok = replace(path, buf_slice(&text), err);
    buf_clear(&text);
    return ok;
}
