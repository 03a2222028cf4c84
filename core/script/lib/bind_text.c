/* raw.base64 and raw.sha256: Base64 and hashes of strings. */
#include <openssl/evp.h>

#include "base/must.h"
#include "base/text/base64.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

/* The scratch is C's memory, which the script's limit does not see. */
enum { CODED_MAX = 16 << 20 };

static struct str coded_arg(lua_State *L, const char *verb, const char *what)
{
    struct str text = arg_bytes(L, 1, what);
    if (text.n > CODED_MAX) script_raise(L, "%s: string exceeds 16 MiB", verb);
    return text;
}

static int push_scratch(lua_State *L, const struct buf *scratch)
{
    lua_pushlstring(L, scratch->data ? scratch->data : "", scratch->len);
    return 1;
}

static int l_base64_encode(lua_State *L)
{
    struct str bytes = coded_arg(L, "k8s.base64.encode", "k8s.base64.encode: text");
    struct buf *out = script_scratch(script_of(L));
    base64_encode(bytes, out);
    return push_scratch(L, out);
}

static int l_base64_decode(lua_State *L)
{
    struct str text = coded_arg(L, "k8s.base64.decode", "k8s.base64.decode: text");
    struct buf *out = script_scratch(script_of(L));
    if (!base64_decode(text, out)) return push_error(L, 0, "Invalid", STR("not Base64"));
    return push_scratch(L, out);
}

static int l_sha256(lua_State *L)
{
    static const char digits[] = "0123456789abcdef";
    struct str text = arg_bytes(L, 1, "k8s.sha256: text");
    unsigned char digest[EVP_MAX_MD_SIZE];
    char hex[2 * EVP_MAX_MD_SIZE];
    unsigned n;
    must(EVP_Digest(text.p, text.n, digest, &n, EVP_sha256(), NULL));
    for (unsigned i = 0; i < n; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    lua_pushlstring(L, hex, 2 * (size_t)n);
    return 1;
}

static void bind_text(lua_State *L)
{
    static const luaL_Reg base64_verbs[] = {
        {"encode", l_base64_encode}, {"decode", l_base64_decode}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, base64_verbs);
    lua_setfield(L, -2, "base64");
    lua_pushcfunction(L, l_sha256);
    lua_setfield(L, -2, "sha256");
}

const struct feature feature_text = {.parts = {"base64", "sha256"}, .bind = bind_text};
