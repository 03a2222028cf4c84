/* Kubernetes' validations as data: sets of rules, by kind and by what kinds share (docs/dev/schema.md).
 * Owner: the bundle, as in schema.h. May be called anywhere, from any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum schema_check {
    SCHEMA_CHECK_REQUIRED,    /* `argument` is what the cause says */
    SCHEMA_CHECK_NEEDS,       /* likewise, whatever the value is: conditions tell */
    SCHEMA_CHECK_FORBIDDEN,   /* likewise */
    SCHEMA_CHECK_INVALID,     /* whatever the value is */
    SCHEMA_CHECK_BLANK,       /* likewise, and the cause shows "" */
    SCHEMA_CHECK_UNSUPPORTED, /* likewise; `words` are supported */
    SCHEMA_CHECK_ENUM,        /* one of `words`, or each of a list; `argument`: none is wrong, too */
    SCHEMA_CHECK_VALID,       /* likewise, and any other is like none */
    SCHEMA_CHECK_AMONG,       /* likewise, else invalid, as `argument` says */
    SCHEMA_CHECK_RANGE,       /* words: the least and the largest number, "forbidden" */
    SCHEMA_CHECK_MATCH,       /* a text; words: an extended regular expression */
    SCHEMA_CHECK_FORM,   /* a text, or each of a list; words: the form of a name; `argument` as in rule_form.h
                          */
    SCHEMA_CHECK_KEYS,   /* words: the form of each key of a map, in brackets */
    SCHEMA_CHECK_APART,  /* no key of the map is in that of words */
    SCHEMA_CHECK_LABELS, /* keys and values; `argument`: the form of keys, and values are free */
    SCHEMA_CHECK_SELECTS, /* the selector of the value has the labels of its template; `argument`: where its
                             labels are, unless in selector.matchLabels */
    SCHEMA_CHECK_AMOUNT,  /* a quantity, not below 0; words "positive": above; "number": shown as one */
    SCHEMA_CHECK_UNIQUE,  /* words: members that elements of the list have together once */
    SCHEMA_CHECK_FIRST,   /* no element before has the text; words: lists before this one */
    SCHEMA_CHECK_ABOVE,   /* words: another member, which it is not below; "strictly": which it is above */
    SCHEMA_CHECK_BELOW,   /* words: another member, 0 if there is none, which it is not above */
    SCHEMA_CHECK_RISES,   /* a number, 0 if there is none, that is not below what it was */
    SCHEMA_CHECK_WRONG,   /* invalid, and the cause shows no value */
    SCHEMA_CHECK_EQUAL,   /* words: another member, which has the same text */
    SCHEMA_CHECK_LUA,     /* words: module of lua/sim/checks and function; `argument` is one of its */
    SCHEMA_CHECK_WARNS,   /* `argument` is a warning, in the order of causes */
    SCHEMA_CHECK_ENTER,   /* the rules of `set` hold for the value */
    SCHEMA_CHECK_EACH,    /* for each element of a list */
    SCHEMA_CHECK_ALL,     /* likewise, and causes name no element */
    SCHEMA_CHECK_NAMED,   /* likewise, and of old the element of its name */
    SCHEMA_CHECK_VALUES,  /* for each value of a map */
    SCHEMA_CHECK_REVALIDATED, /* metadata: an update validates it here as a create does */
    SCHEMA_CHECK_CHANGED,     /* metadata: an update checks here what changes; at first without these two */
    SCHEMA_CHECK_UNCHECKED,   /* metadata: nothing of it is checked here */
    SCHEMA_CHECK_FREE,  /* finalizers: they need no domain, and the kind's own rules check no metadata */
    SCHEMA_CHECK_PLAIN, /* finalizers: they need no domain */
    SCHEMA_CHECK_SAME,  /* does not change; else invalid */
    SCHEMA_CHECK_KEPT,  /* likewise; else forbidden */
    SCHEMA_CHECK_ONLY,  /* members that are none of `words` do not change */
    SCHEMA_CHECK_GROWS, /* keeps its elements, but for their member in words */
    SCHEMA_CHECK_BUT,   /* as SAME, but for members in words, also of elements of its lists */
};

/* A member of the value of the set ("conditions[Complete].status": of the element of that type), of the old
 * object, or of the body as it was given, without its defaults,
 * that has one of the values; none: is set. */
struct schema_condition {
    const char *path;
    const char *const *values;
    bool negated, old, given;
};

struct schema_rule {
    const char *path, *shown; /* "spec.replicas"; as causes name it */
    const char *value; /* JSON that causes show instead, where "$spec.type" is that member; may be NULL */
    enum schema_check check;
    const char *const *words;
    const char *argument;
    const struct schema_rule_set *set; /* NULL unless it enters one */
    const struct schema_condition *conditions;
    size_t condition_count;
};

/* In the order in which a server reports causes. */
struct schema_rule_set {
    const char *name; /* "Pod", or a name that others enter */
    const struct schema_rule *rules;
    size_t count;
    bool places_metadata; /* has a rule for the metadata of updates, or free ones: none but these checks it */
    bool free;            /* has such a rule: a create checks metadata only if nothing else is wrong */
    bool any_finalizers;  /* has free or plain ones */
};

/* Returns the rules of that name; NULL: there are none. */
const struct schema_rule_set *schema_rule_set(const char *name);
