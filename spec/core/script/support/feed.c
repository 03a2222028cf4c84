/* Events by hand; see feed.h. */
#include "feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "script/handlers/delivery.h"

struct root *feed_pod(struct cluster *c, const char *name, int version, int uid)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json,
               "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\","
               "\"uid\":\"%d\",\"resourceVersion\":\"%d\",\"labels\":{\"v\":\"%d\"}}}",
               name, uid, version, version);
    memset(buf_reserve(&json, TAPE_PADDING), 0, TAPE_PADDING);
    if (!pack_text(c->packer, json.data, json.len, NULL, &root, &err)) fail_msg("%s", err.text);
    buf_clear(&json);
    return root;
}

void feed(struct script_handler *h, char what, struct root *old_object, struct root *object,
          const struct event_info *info)
{
    const struct event_handler handler = delivery_callbacks(h);
    struct event_info gone = *info;
    gone.stored = old_object;
    if (what == '+') handler.on_add(handler.ctx, object, info);
    if (what == '=') handler.on_update(handler.ctx, old_object, object, info);
    if (what == '-') handler.on_delete(handler.ctx, object, &gone);
}

struct script_handler *feed_handler(struct script *script)
{
    return TAILQ_FIRST(&script->own.handlers->list);
}
