/* A catalogue of a few kinds; see small_catalogue.h. */
#include "core/informer/support/small_catalogue.h"

#include "base/must.h"
#include "kube/kinds/catalogue.h"

static void add(struct catalogue *catalogue, const char *json, const char *group, const char *version,
                unsigned order)
{
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    struct buf text = {0};
    buf_puts(&text, json);
    buf_reserve(&text, TAPE_PADDING);
    must(tape_parse(parser, text.data, text.len, &tape, NULL));
    catalogue_add_legacy(catalogue, &tape, str_of(group), str_of(version), order, 0);
    tape_parser_free(parser);
    buf_clear(&text);
}

struct catalogue *small_catalogue(bool with_widgets)
{
    return small_catalogue_with(with_widgets ? "v1" : NULL);
}

struct catalogue *small_catalogue_with(const char *widgets)
{
    struct catalogue *catalogue = catalogue_new();
    add(catalogue,
        "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["
        "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\","
        "\"verbs\":[\"get\",\"list\",\"watch\"],\"shortNames\":[\"po\"]},"
        "{\"name\":\"nodes\",\"singularName\":\"node\",\"namespaced\":false,\"kind\":\"Node\","
        "\"verbs\":[\"get\",\"list\",\"watch\"]}]}",
        "", "v1", 0);
    if (widgets)
        add(catalogue,
            "{\"kind\":\"APIResourceList\",\"resources\":["
            "{\"name\":\"widgets\",\"singularName\":\"widget\",\"namespaced\":true,\"kind\":\"Widget\","
            "\"verbs\":[\"get\",\"list\",\"watch\"]}]}",
            "example.com", widgets, 1);
    catalogue_finish(catalogue);
    return catalogue;
}
