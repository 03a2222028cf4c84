/* Negotiation of an object's form by the Accept header. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/kinds/table.h"

static double quality(struct str text)
{
    char digits[16] = {0};
    memcpy(digits, text.p, text.n < sizeof digits - 1 ? text.n : sizeof digits - 1);
    return strtod(digits, NULL);
}

struct sim_clause sim_read_clause(struct str text)
{
    struct sim_clause c = {.q = 1};
    struct str part;
    str_cut(&text, ';', &part);
    c.type = str_trim(part);
    while (str_cut(&text, ';', &part)) {
        struct str key, value = part;
        str_cut(&value, '=', &key);
        key = str_trim(key);
        value = value.p ? str_trim(value) : STR("");
        if (str_is(key, "as")) c.as = value;
        if (str_is(key, "g")) c.group = value;
        if (str_is(key, "v")) c.version = value;
        if (str_is(key, "q")) c.q = quality(value);
    }
    return c;
}

static bool is_json(const struct sim_clause *c)
{
    return str_is(c->type, "application/json") || str_is(c->type, "application/*") || str_is(c->type, "*/*");
}

static bool is_yaml(const struct sim_clause *c)
{
    return str_is(c->type, "application/yaml");
}

static bool is_protobuf(const struct sim_clause *c)
{
    return str_is(c->type, "application/vnd.kubernetes.protobuf");
}

/* The form of the object, all of which are of meta.k8s.io, whatever it is encoded as. */
static enum sim_form form_of(const struct sim_clause *c)
{
    static const struct {
        const char *as;
        enum sim_form form;
    } forms[] = {{"Table", SIM_FORM_TABLE},
                 {"PartialObjectMetadata", SIM_FORM_PARTIAL},
                 {"PartialObjectMetadataList", SIM_FORM_PARTIAL_LIST}};
    if (c->as.n == 0 && c->group.n == 0 && c->version.n == 0) return SIM_FORM_JSON;
    bool known = str_is(c->version, "v1") || str_is(c->version, "v1beta1");
    if (!str_is(c->group, "meta.k8s.io") || !known) return SIM_FORM_UNACCEPTABLE;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_is(c->as, forms[i].as)) return forms[i].form;
    return SIM_FORM_UNACCEPTABLE;
}

static bool is_partial(enum sim_form form)
{
    return form == SIM_FORM_PARTIAL || form == SIM_FORM_PARTIAL_LIST;
}

static bool is_spoken(const struct sim_clause *clause, struct sim_media media,
                      const struct sim_spoken *spoken)
{
    if (media.form == SIM_FORM_UNACCEPTABLE || (media.form == SIM_FORM_TABLE && !spoken->tables))
        return false;
    if (!media.protobuf) return is_json(clause) || media.yaml;
    return is_partial(media.form) ? spoken->protobuf || spoken->partial_protobuf
                                  : spoken->protobuf && media.form != SIM_FORM_TABLE;
}

struct sim_media sim_negotiate_media(const char *accept, const struct sim_spoken *spoken)
{
    struct str rest = str_of(accept ? accept : ""), part;
    struct sim_media best = {.form = SIM_FORM_UNACCEPTABLE};
    double best_q = 0;
    if (str_trim(rest).n == 0) return (struct sim_media){.form = SIM_FORM_JSON};
    while (str_cut(&rest, ',', &part)) {
        struct sim_clause c = sim_read_clause(part);
        struct sim_media media = {form_of(&c), is_protobuf(&c), is_yaml(&c), str_is(c.version, "v1beta1")};
        if (!is_spoken(&c, media, spoken) || c.q <= best_q) continue;
        best = media;
        best_q = c.q;
    }
    return best;
}

bool sim_is_routed(const char *accept)
{
    static const char *const types[] = {"*/*", "application/json", "application/yaml",
                                        "application/vnd.kubernetes.protobuf"};
    struct str rest = str_of(accept && *accept ? accept : "*/*"), part, type;
    while (str_cut(&rest, ',', &part)) {
        str_cut(&part, ';', &type);
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            if (str_is(str_trim(type), types[i])) return true;
    }
    return false;
}

struct sim_media sim_negotiate_of(const struct sim_kind *kind, const char *accept)
{
    return sim_negotiate_media(
        accept, &(struct sim_spoken){.tables = true, .protobuf = !kind->custom, .partial_protobuf = true});
}
