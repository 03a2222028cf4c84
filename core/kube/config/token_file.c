/* Files with a bearer token; see token_file.h. */
#include "kube/config/token_file.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

enum { TOKEN_FILE_MAX = 256 << 10 }; /* bytes */

bool token_file_read(const char *path, char **out, struct err *err)
{
    struct buf text = {0};
    bool ok = file_read(path, TOKEN_FILE_MAX, &text, err); /* also fills `text` if it fails */
    struct str token = str_trim(buf_slice(&text));
    if (ok && !token.n) ok = err_set(err, ERR_INVALID, "%s: file contains no token", path);
    if (ok && str_has_nul(token))
        ok = err_set(err, ERR_INVALID, "%s: the token must not contain a NUL byte", path);
    if (ok) *out = xstrndup(token.p, token.n);
    buf_wipe(&text);
    return ok;
}
