/* YAML by libyaml's document API; see yaml_file.h. */
#include "kube/yaml_file.h"

#include "base/file.h"

enum { FILE_MAX = 16 << 20 };

static bool complain(struct yaml_file *file, const yaml_parser_t *parser, struct err *err)
{
    const char *problem = parser->problem ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR)
        return err_set(err, ERR_PARSE, "%s: byte %zu: %s", file->path, parser->problem_offset, problem);
    return err_set(err, ERR_PARSE, "%s: line %zu: %s", file->path, parser->problem_mark.line + 1, problem);
}

bool yaml_file_load(struct yaml_file *file, const char *path, struct err *err)
{
    struct buf text = {0};
    yaml_parser_t parser;
    *file = (struct yaml_file){.path = path};
    bool ok = file_read(path, FILE_MAX, &text, err);
    if (ok) {
        yaml_parser_initialize(&parser);
        yaml_parser_set_input_string(&parser, (const unsigned char *)buf_text(&text), text.len);
        ok = file->loaded = yaml_parser_load(&parser, &file->document) == 1;
        if (!ok) complain(file, &parser, err);
        yaml_parser_delete(&parser);
    }
    buf_wipe(&text);
    return ok;
}

void yaml_file_clear(struct yaml_file *file)
{
    if (file->loaded) yaml_document_delete(&file->document);
    file->loaded = false;
}

yaml_node_t *yaml_file_root(struct yaml_file *file)
{
    return yaml_document_get_root_node(&file->document);
}

static bool is_null(const yaml_node_t *node)
{
    struct str text = yaml_text(node);
    return text.p && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!text.n || str_is(text, "null") || str_is(text, "~") || str_is(text, "Null") ||
            str_is(text, "NULL"));
}

yaml_node_t *yaml_next_entry(struct yaml_file *file, yaml_node_t *map, size_t *index, struct str *key)
{
    if (!map || map->type != YAML_MAPPING_NODE) return NULL;
    yaml_node_pair_t *pair = map->data.mapping.pairs.start + *index;
    if (pair >= map->data.mapping.pairs.top) return NULL;
    (*index)++;
    *key = yaml_text(yaml_document_get_node(&file->document, pair->key));
    return yaml_document_get_node(&file->document, pair->value);
}

yaml_node_t *yaml_get(struct yaml_file *file, yaml_node_t *map, const char *key)
{
    struct str name;
    yaml_node_t *value;
    for (size_t i = 0; (value = yaml_next_entry(file, map, &i, &name));)
        if (str_is(name, key)) return is_null(value) ? NULL : value;
    return NULL;
}

yaml_node_t *yaml_next(struct yaml_file *file, yaml_node_t *sequence, size_t *index)
{
    if (!sequence || sequence->type != YAML_SEQUENCE_NODE) return NULL;
    yaml_node_item_t *item = sequence->data.sequence.items.start + *index;
    if (item >= sequence->data.sequence.items.top) return NULL;
    (*index)++;
    return yaml_document_get_node(&file->document, *item);
}

struct str yaml_text(const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) return (struct str){0};
    return (struct str){(const char *)node->data.scalar.value, node->data.scalar.length};
}
