/* Texts around pods; see replay_form.h. */
#include "bench/source/replay_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "sim/kinds/table.h"
#include "sim/object/status.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

#define EVENT(type)   "{\"type\":\"" type "\",\"object\":"
#define POD_HEAD      "{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
#define METADATA_HEAD "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","

struct around {
    struct str head, tail;
};

static const struct str nothing = {"", 0};

static bool is_protobuf(enum replay_form form)
{
    return form == REPLAY_PROTOBUF || form == REPLAY_PROTOBUF_METADATA;
}

static bool is_metadata(enum replay_form form)
{
    return form == REPLAY_JSON_METADATA || form == REPLAY_PROTOBUF_METADATA;
}

/* --- Envelopes, lists and frames of watches in protobuf; An object is four bytes
 * of magic and a runtime.Unknown with its type and its message; a watch sends a length of four bytes and a
 * meta.v1.WatchEvent for each event, with such an object in it */

/* Numbers of fields. */
enum { TYPE_API_VERSION = 1, TYPE_KIND = 2 };
enum { UNKNOWN_TYPE = 1, UNKNOWN_RAW = 2 };
enum { EVENT_TYPE = 1, EVENT_OBJECT = 2, EXTENSION_RAW = 1 };
enum { LIST_METADATA = 1, LIST_ITEMS = 2 };
enum { LIST_META_SELF_LINK = 1, LIST_META_VERSION = 2, LIST_META_CONTINUE = 3, LIST_META_REMAINING = 4 };
enum { META_VERSION = 6, META_ANNOTATIONS = 12 };
enum { STATUS_STATUS = 2, STATUS_MESSAGE = 3, STATUS_REASON = 4, STATUS_DETAILS = 5, STATUS_CODE = 6 };
enum { DETAILS_CAUSES = 4, DETAILS_RETRY_AFTER = 5, CAUSE_REASON = 1, CAUSE_MESSAGE = 2 };

enum { HEAD_MAX = 192 };

static const struct str magic = {"k8s\0", 4};
/* contentEncoding and contentType of the Unknown: there, and empty. */
static const struct str unknown_end = {"\x1a\x00\x22\x00", 4};
struct replay_kind {
    struct str api_version, name;
};

static const struct replay_kind pod_kind = {{"v1", 2}, {"Pod", 3}};
static const struct replay_kind pod_list = {{"v1", 2}, {"PodList", 7}};
static const struct replay_kind metadata = {{"meta.k8s.io/v1", 14}, {"PartialObjectMetadata", 21}};
static const struct replay_kind metadata_list = {{"meta.k8s.io/v1", 14}, {"PartialObjectMetadataList", 25}};
static const struct replay_kind status_kind = {{"v1", 2}, {"Status", 6}};

struct replay_head {
    char bytes[HEAD_MAX];
    size_t n;
};

static void put(struct replay_head *head, struct str bytes)
{
    must(head->n + bytes.n <= HEAD_MAX);
    memcpy(head->bytes + head->n, bytes.p, bytes.n);
    head->n += bytes.n;
}

static void put_head(struct replay_head *head, uint32_t number, size_t len)
{
    must(head->n + 1 + SIM_PROTOBUF_VARINT_MAX <= HEAD_MAX);
    head->n += sim_protobuf_head(head->bytes + head->n, number, len);
}

static void put_text(struct replay_head *head, uint32_t number, struct str text)
{
    put_head(head, number, text.n);
    put(head, text);
}

static size_t size_of(size_t len)
{
    return sim_protobuf_head_size(len) + len;
}

static size_t type_size(const struct replay_kind *kind)
{
    return size_of(kind->api_version.n) + size_of(kind->name.n);
}

/* Of an object whose message has `len` bytes. */
static size_t object_size(const struct replay_kind *kind, size_t len)
{
    return magic.n + size_of(type_size(kind)) + size_of(len) + unknown_end.n;
}

/* Writes the head of a message; unknown_end ends it. */
static void put_object(struct replay_head *head, const struct replay_kind *kind, size_t len)
{
    put(head, magic);
    put_head(head, UNKNOWN_TYPE, type_size(kind));
    put_text(head, TYPE_API_VERSION, kind->api_version);
    put_text(head, TYPE_KIND, kind->name);
    put_head(head, UNKNOWN_RAW, len);
}

static void put_event(struct replay_out *out, struct str type, const struct replay_kind *kind,
                      struct str message)
{
    size_t object = object_size(kind, message.n), extension = size_of(object);
    size_t event = size_of(type.n) + size_of(extension);
    const char length[] = {(char)(event >> 24), (char)(event >> 16), (char)(event >> 8), (char)event};
    struct replay_head head = {.n = 0};
    put(&head, (struct str){length, sizeof length});
    put_text(&head, EVENT_TYPE, type);
    put_head(&head, EVENT_OBJECT, extension);
    put_head(&head, EXTENSION_RAW, object);
    put_object(&head, kind, message.n);
    replay_out_chunk(out, (struct str){head.bytes, head.n}, message, unknown_end);
}

static struct str message_of(bool metadata_only, const struct replay_pod *p)
{
    return (struct str){p->protobuf.bytes, metadata_only ? p->protobuf.metadata_len : p->protobuf.len};
}

/* `metadata_only`: a PartialObjectMetadata instead of a Pod. */
static void replay_protobuf_event(struct replay_out *out, bool metadata_only, struct str type,
                                  const struct replay_pod *p)
{
    put_event(out, type, metadata_only ? &metadata : &pod_kind, message_of(metadata_only, p));
}

static void put_number(struct buf *out, uint32_t number, uint64_t value)
{
    struct buf digits = {0};
    buf_printf(&digits, "%llu", (unsigned long long)value);
    sim_protobuf_put(out, number, buf_slice(&digits));
    buf_clear(&digits);
}

static void replay_protobuf_bookmark(struct replay_out *out, bool metadata_only, uint64_t version)
{
    struct buf entry = {0}, members = {0}, message = {0};
    sim_protobuf_put(&entry, 1, STR("k8s.io/initial-events-end"));
    sim_protobuf_put(&entry, 2, STR("true"));
    put_number(&members, META_VERSION, version);
    sim_protobuf_put(&members, META_ANNOTATIONS, buf_slice(&entry));
    sim_protobuf_put(&message, 1, buf_slice(&members));
    put_event(out, STR("BOOKMARK"), metadata_only ? &metadata : &pod_kind, buf_slice(&message));
    replay_out_flush(out);
    buf_clear(&entry);
    buf_clear(&members);
    buf_clear(&message);
}

static void put_details(struct buf *out, const json_t *details)
{
    struct buf members = {0}, cause = {0};
    const json_t *each;
    size_t i;
    json_array_foreach (sim_at(details, "causes"), i, each) {
        cause.len = 0;
        sim_protobuf_put(&cause, CAUSE_REASON, str_of(sim_text_at(each, "reason")));
        sim_protobuf_put(&cause, CAUSE_MESSAGE, str_of(sim_text_at(each, "message")));
        sim_protobuf_put(&members, DETAILS_CAUSES, buf_slice(&cause));
    }
    sim_protobuf_put_int(&members, DETAILS_RETRY_AFTER,
                         (uint64_t)sim_int_at(details, "retryAfterSeconds", 0));
    sim_protobuf_put(out, STATUS_DETAILS, buf_slice(&members));
    buf_clear(&cause);
    buf_clear(&members);
}

static void replay_protobuf_error(struct replay_out *out, const json_t *status)
{
    struct buf message = {0};
    const json_t *details = sim_at(status, "details");
    sim_protobuf_put(&message, STATUS_STATUS, str_of(sim_text_at(status, "status")));
    sim_protobuf_put(&message, STATUS_MESSAGE, str_of(sim_text_at(status, "message")));
    sim_protobuf_put(&message, STATUS_REASON, str_of(sim_text_at(status, "reason")));
    if (details) put_details(&message, details);
    sim_protobuf_put_int(&message, STATUS_CODE, (uint64_t)sim_int_at(status, "code", 0));
    put_event(out, STR("ERROR"), &status_kind, buf_slice(&message));
    replay_out_flush(out);
    buf_clear(&message);
}

static void put_list_meta(struct buf *out, const struct sim_list_meta *meta)
{
    struct buf members = {0};
    sim_protobuf_put(&members, LIST_META_SELF_LINK, nothing);
    put_number(&members, LIST_META_VERSION, meta->version);
    sim_protobuf_put(&members, LIST_META_CONTINUE, str_of(meta->token ? meta->token : ""));
    if (meta->remaining >= 0) sim_protobuf_put_int(&members, LIST_META_REMAINING, (uint64_t)meta->remaining);
    sim_protobuf_put(out, LIST_METADATA, buf_slice(&members));
    buf_clear(&members);
}

static void replay_protobuf_list(struct replay_out *out, bool metadata_only, const struct sim_list_meta *meta,
                                 struct replay_pod *const *pods, size_t n)
{
    struct buf list_meta = {0};
    struct replay_head head = {.n = 0};
    put_list_meta(&list_meta, meta);
    size_t len = list_meta.len;
    for (size_t i = 0; i < n; i++) len += size_of(message_of(metadata_only, pods[i]).n);
    put_object(&head, metadata_only ? &metadata_list : &pod_list, len);
    replay_out_chunk(out, (struct str){head.bytes, head.n}, nothing, buf_slice(&list_meta));
    for (size_t i = 0; i < n; i++) {
        struct str message = message_of(metadata_only, pods[i]);
        head.n = 0;
        put_head(&head, LIST_ITEMS, message.n);
        replay_out_chunk(out, (struct str){head.bytes, head.n}, message, nothing);
    }
    replay_out_chunk(out, unknown_end, nothing, nothing);
    buf_clear(&list_meta);
}

/* --- In each form */

bool replay_form_of(const char *accept, bool list, bool has_protobuf, enum replay_form *form,
                    json_t **refusal)
{
    struct sim_media media = sim_negotiate_media(accept, &(struct sim_spoken){.protobuf = has_protobuf});
    bool whole = media.form == SIM_FORM_JSON;
    *refusal = NULL;
    *form = media.protobuf ? (whole ? REPLAY_PROTOBUF : REPLAY_PROTOBUF_METADATA)
                           : (whole ? REPLAY_JSON : REPLAY_JSON_METADATA);
    if (whole || media.form == (list ? SIM_FORM_PARTIAL_LIST : SIM_FORM_PARTIAL)) return true;
    *refusal = sim_status_not_acceptable(
        has_protobuf ? "application/json, application/vnd.kubernetes.protobuf" : "application/json");
    return false;
}

/* As a real server has it, the stream is named with protobuf only. */
const char *replay_form_content_type(enum replay_form form, bool watch)
{
    if (!is_protobuf(form)) return "application/json";
    return watch ? "application/vnd.kubernetes.protobuf;stream=watch" : "application/vnd.kubernetes.protobuf";
}

static struct str body_of(enum replay_form form, const struct replay_pod *pod)
{
    const struct replay_body *body = &pod->json;
    return (struct str){body->bytes, is_metadata(form) ? body->metadata_len : body->len};
}

void replay_form_event(struct replay_out *out, enum replay_form form, enum replay_event event,
                       const struct replay_pod *pod)
{
    static const struct around around[2][2] = {
        [REPLAY_JSON] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") POD_HEAD), STR("}\n")},
                         [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") POD_HEAD), STR("}\n")}},
        [REPLAY_JSON_METADATA] = {[REPLAY_ADDED] = {STR(EVENT("ADDED") METADATA_HEAD), STR("}}\n")},
                                  [REPLAY_MODIFIED] = {STR(EVENT("MODIFIED") METADATA_HEAD), STR("}}\n")}}};
    static const struct str types[] = {[REPLAY_ADDED] = STR("ADDED"), [REPLAY_MODIFIED] = STR("MODIFIED")};
    if (is_protobuf(form)) {
        replay_protobuf_event(out, is_metadata(form), types[event], pod);
        return;
    }
    const struct around *a = &around[form][event];
    replay_out_chunk(out, a->head, body_of(form, pod), a->tail);
}

void replay_form_bookmark(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                          uint64_t version)
{
    struct sim_view json = {.served = served, .form = form == REPLAY_JSON ? SIM_FORM_JSON : SIM_FORM_PARTIAL};
    struct sim_out text = {0};
    if (is_protobuf(form)) {
        replay_protobuf_bookmark(out, is_metadata(form), version);
        return;
    }
    sim_form_bookmark(&text, &json, version, true);
    replay_out_chunk(out, buf_slice(&text.kept), nothing, nothing);
    sim_out_clear(&text);
}

void replay_form_error(struct replay_out *out, enum replay_form form, json_t *status)
{
    struct buf event = {0};
    if (is_protobuf(form)) {
        replay_protobuf_error(out, status);
        json_decref(status);
        return;
    }
    sim_form_error(&event, status);
    replay_out_chunk(out, buf_slice(&event), nothing, nothing);
    buf_clear(&event);
}

static void put_list(struct replay_out *out, bool metadata_only, const struct sim_served *served,
                     const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n)
{
    struct sim_view view = {.served = served, .form = metadata_only ? SIM_FORM_PARTIAL_LIST : SIM_FORM_JSON};
    struct str first = metadata_only ? STR("[" METADATA_HEAD) : STR("[{");
    struct str next = metadata_only ? STR("," METADATA_HEAD) : STR(",{");
    struct sim_list_meta behind = *meta;
    struct buf around = {0};
    behind.empty = n == 0;
    sim_form_list_head(&around, &view, meta);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    for (size_t i = 0; i < n; i++)
        replay_out_chunk(out, i ? next : first,
                         body_of(metadata_only ? REPLAY_JSON_METADATA : REPLAY_JSON, pods[i]),
                         metadata_only ? STR("}") : nothing);
    around.len = 0;
    sim_form_list_tail(&around, &view, &behind);
    replay_out_chunk(out, buf_slice(&around), nothing, nothing);
    buf_clear(&around);
}

void replay_form_list(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                      const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n)
{
    if (is_protobuf(form))
        replay_protobuf_list(out, is_metadata(form), meta, pods, n);
    else
        put_list(out, is_metadata(form), served, meta, pods, n);
}
