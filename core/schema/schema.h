/* Kubernetes 1.36's own knowledge of its kinds: resources, types, fields and defaults, from data in the
 * binary (docs/dev/schema.md). Owner: the bundle; what is returned is constant and lives as long as the
 * process. A package is unpacked when it is first asked for, and stays: at most 1 MB for all of them. May be
 * called anywhere, from any thread. */
#pragma once
#include "base/str.h"

/* SCHEMA_ANY: a rule of the kind checks the name. */
enum schema_names { SCHEMA_SUBDOMAIN, SCHEMA_LABEL, SCHEMA_PATH, SCHEMA_ANY };

/* Lists of strings end with NULL, and are never NULL themselves. */
struct schema_subresource {
    const char *name;           /* "status" */
    const char *version, *kind; /* of what it takes: "autoscaling/v1", "Scale" */
    const char *const *verbs;
};

/* A field that has a default only in this kind. */
struct schema_kind_default {
    const char *path;          /* "spec.template.containers[].name" */
    const char *value;         /* JSON */
    const char *const *unless; /* as of a field */
};

struct schema_kind {
    const char *group; /* "" for the core group */
    const char *version, *kind;
    const char *plural, *singular; /* of the resource */
    const char *type;              /* "core/v1.Pod" */
    bool namespaced;
    bool on;                /* a server has it unless told otherwise: no alpha or beta version is */
    bool generation;        /* metadata.generation counts changes */
    bool graceful;          /* deletes wait for the grace period */
    bool returns_deleted;   /* a delete returns the object, not a Status */
    bool created_by_update; /* a PUT creates what is not there */
    bool needs_version;     /* an update without a resourceVersion is refused */
    bool takes_status;      /* a create may bring a status, or a part of it */
    enum schema_names names;
    const char *const *verbs, *const *short_names, *const *categories;
    const char *const *field_labels; /* of field selectors, besides metadata.name and metadata.namespace */
    const char *first_status;        /* JSON after a create, where "now" stands for the time; NULL: none */
    const struct schema_subresource *subresources;
    size_t subresource_count;
    const struct schema_kind_default *defaults;
    size_t default_count;
};

enum schema_form {
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_DOUBLE,
    SCHEMA_BYTES,             /* base64 in JSON */
    SCHEMA_QUANTITY,          /* message with 1: text */
    SCHEMA_INT_OR_STRING,     /* 1: type (0 number), 2: number, 3: text */
    SCHEMA_TIME,              /* RFC 3339; 1: seconds, 2: nanoseconds */
    SCHEMA_MICRO_TIME,        /* with six digits behind the point; likewise */
    SCHEMA_DURATION,          /* "1m30s"; 1: nanoseconds */
    SCHEMA_RAW,               /* a whole object; 1: its JSON */
    SCHEMA_JSON,              /* any value; 1: its JSON */
    SCHEMA_SCHEMA_OR_BOOL,    /* of a CRD; 1: bool, 2: JSONSchemaProps */
    SCHEMA_SCHEMA_OR_ARRAY,   /* 1: JSONSchemaProps, 2: list of them */
    SCHEMA_SCHEMA_OR_STRINGS, /* 1: JSONSchemaProps, 2: list of strings */
    SCHEMA_OBJECT             /* `object` has its type */
};

/* How many values of the form there are. Maps have strings for keys. A named list is a message of its own in
 * protobuf, with the elements as field 1. */
enum schema_holder { SCHEMA_ONE, SCHEMA_LIST, SCHEMA_NAMED_LIST, SCHEMA_MAP, SCHEMA_MAP_OF_NAMED_LISTS };

/* How lists merge in a server-side apply; SCHEMA_ATOMIC of maps, too. */
enum schema_merge { SCHEMA_MERGE_UNSAID, SCHEMA_ATOMIC, SCHEMA_SET, SCHEMA_LIST_MAP, SCHEMA_GRANULAR };

struct schema_field {
    const char *name;        /* "" : the fields of its type are those of the object around it, in JSON */
    const char *description; /* one sentence; may be "" */
    uint32_t number;         /* of protobuf; 0: not in a message */
    enum schema_form form;
    enum schema_holder holder;
    const char *object; /* "core/v1.Container" of SCHEMA_OBJECT, else NULL */
    bool optional;      /* a pointer in Go: JSON and protobuf have it even if it is empty, once set */
    bool always;        /* JSON has it even if it is empty or was not set; `{}`, null, 0, "" or false */
    bool required;      /* as OpenAPI has it */
    enum schema_merge merge;
    const char *const *list_keys; /* of SCHEMA_LIST_MAP */
    bool patch_merges;            /* a strategic merge patch merges the list, by `merge_key` if that is set */
    bool patch_retains_keys;      /* it may name the keys to keep */
    bool patch_replaces;          /* it replaces the map */
    const char *merge_key;        /* may be NULL */
    const char *const *enums;     /* values; none: any */
    const char *go;               /* name of its string type in Go: "v1.SecretType"; NULL: it has none */
    const char *value;            /* default as JSON; NULL: none, or one that is computed from other fields */
    const char *const *unless;    /* fields of the type that take it away: "image", or "type:OnDelete" */
    const struct schema_type *type; /* of schema_type_of_field, once that was called */
};

struct schema_type {
    const char *name;                  /* "core/v1.PodSpec" */
    const char *description;           /* one sentence; may be "" */
    bool atomic;                       /* is replaced as a whole by an apply */
    const struct schema_field *fields; /* in the order of the Go source */
    size_t field_count;
};

/* All kinds, in the order of a server's discovery. */
const struct schema_kind *schema_kinds(size_t *count);
/* NULL, here and below, for what is not there. `version` NULL: the first that a server has on. */
const struct schema_kind *schema_kind(const char *group, const char *version, const char *kind);
const struct schema_kind *schema_resource(const char *group, const char *version, const char *plural);
const struct schema_subresource *schema_subresource(const struct schema_kind *kind, const char *name);

/* Returns the type of a name: "core/v1.PodSpec", "meta/v1.ObjectMeta". */
const struct schema_type *schema_type(const char *name);
/* NULL gives NULL. */
const struct schema_type *schema_type_of_kind(const struct schema_kind *kind);
/* Returns the type of a field's values; NULL if they are no objects. Of the three forms for schemas of CRDs
 * it is JSONSchemaProps. */
const struct schema_type *schema_type_of_field(const struct schema_field *field);
/* Returns the field that JSON calls so, also out of inlined types. */
const struct schema_field *schema_field_named(const struct schema_type *type, struct str name);
/* Returns the field of a protobuf number. */
const struct schema_field *schema_field_numbered(const struct schema_type *type, uint32_t number);
