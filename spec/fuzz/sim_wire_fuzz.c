/* Any protobuf body: refused with an error, or an object that is itself when it is written and read again. */
#include <stdint.h>

#include "base/must.h"
#include "sim/proto/wire.h"
#include "sim/text/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct buf bytes = {0};
    json_t *object = sim_wire_get((struct str){(const char *)data, size}, &err);
    if (!object) {
        must(err.code != ERR_NONE && err.text[0]);
        return 0;
    }
    struct buf text = {0};
    sim_put_json(&text, object);
    must(sim_wire_put(&bytes, buf_slice(&text)));
    buf_clear(&text);
    json_t *again = sim_wire_get(buf_slice(&bytes), &err);
    must(again && json_equal(object, again));
    json_decref(object);
    json_decref(again);
    buf_clear(&bytes);
    return 0;
}
