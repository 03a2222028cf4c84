/* Any bytes as the stream of an audit, at once and in pieces: refused or taken, the same both times. */
#include <stdint.h>
#include <stdlib.h>

#include "audit/found/stream.h"
#include "base/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECE = 7 };

/* False when it was refused. */
static bool take(struct str bytes, size_t piece, struct audit_totals *totals)
{
    struct audit_table *table = audit_table_new(true);
    struct audit_stream *stream = audit_stream_new(&(const struct audit_stream_sink){.table = table});
    struct err err;
    bool ok = true;
    for (size_t at = 0; ok && at < bytes.n; at += piece) {
        size_t n = bytes.n - at < piece ? bytes.n - at : piece;
        ok = audit_stream_take(stream, (struct str){bytes.p + at, n}, &err);
    }
    must(ok || err.text[0]);
    must(!audit_stream_is_whole(stream) || ok);
    *totals = audit_table_totals(table);
    audit_table_sort(table);
    audit_stream_free(stream);
    audit_table_free(table);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str bytes = {(const char *)data, size};
    struct audit_totals whole, pieces;
    bool taken = take(bytes, size ? size : 1, &whole);
    must(take(bytes, PIECE, &pieces) == taken);
    must(whole.audited == pieces.audited && whole.evaluated == pieces.evaluated);
    return 0;
}
