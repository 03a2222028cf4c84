/* Construction of a catalogue: discovery adds the content of the server's documents. Readers use resource.h.
 * Owner: the I/O thread until it is finished. For discovery and its tests. */
#pragma once
#include "base/str.h"
#include "kube/kinds/resource.h"
#include "object/parse/tape.h"

/* One resource in one version of its group. */
struct catalogue_entry {
    struct resource resource;
    char *singular;
    char **short_names; /* ends with NULL */
    unsigned verbs;     /* see kind_verbs */
    unsigned group_order,
        version_order; /* the server's; the core group and a group's preferred version are 0 */
    size_t sequence;   /* order in which it was added */
};

struct catalogue {
    struct catalogue_entry *entries;
    size_t count;
    struct buf failures;
    struct buf silent; /* groups with versions and roots that did not respond, a blank behind each */
    bool partial;      /* discovery goes on: some groups have not responded yet */
    bool unlisted[2];  /* the server does not list the kinds of the core group, of others: complete names are
                          trusted */
    unsigned refs;     /* besides the first one */
};

struct catalogue *catalogue_new(void);
/* Adds a copy of an entry of another catalogue. */
void catalogue_add_copy(struct catalogue *catalogue, const struct catalogue_entry *entry);
/* Records that `what` ("metrics.k8s.io/v1beta1") did not respond. */
void catalogue_add_failure(struct catalogue *catalogue, const char *what, const char *cause);
/* Records all failures of another catalogue. */
void catalogue_add_failures_of(struct catalogue *catalogue, const struct catalogue *from);
/* Sorts the entries by groups and versions, whatever order they were added in. */
void catalogue_finish(struct catalogue *catalogue);

/* Adds an APIGroupDiscoveryList: all groups with their resources. `first_group` is the order of its first
 * group. */
void catalogue_add_aggregated(struct catalogue *catalogue, const struct tape *tape, unsigned first_group);
/* Adds an APIGroupDiscovery, an item of a list, at `at`. */
void catalogue_add_group(struct catalogue *catalogue, const struct tape *tape, size_t at, unsigned order);
/* Adds an APIResourceList: the resources of one group version. */
void catalogue_add_legacy(struct catalogue *catalogue, const struct tape *tape, struct str group,
                          struct str version, unsigned group_order, unsigned version_order);
/* Adds a kind known only from an object, with a guessed plural. It ranks after all others; does nothing if
 * the catalogue has that very kind. */
void catalogue_add_guess(struct catalogue *catalogue, struct str api_version, struct str kind,
                         bool namespaced);

/* --- Most likely plural of a kind, where no server says it. Owner: the caller frees it. Any thread. */

/* Returns "widgets" for "Widget", "policies" for "Policy", as kubectl guesses it; a new string. */
char *plural_guess(struct str kind);
