/* Construction of a catalogue: discovery puts in what the server's documents say. Readers use resource.h.
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
    unsigned group_order,
        version_order; /* the server's; the core group and a group's preferred version are 0 */
    size_t sequence;   /* in which it was added */
};

struct catalogue {
    struct catalogue_entry *entries;
    size_t count;
    struct buf failures;
    bool partial;     /* discovery goes on: some groups have not responded yet */
    bool unlisted[2]; /* the server does not tell the kinds of the core group, of others: full names are
                         believed */
    unsigned refs;    /* besides the first one */
};

struct catalogue *catalogue_new(void);
/* Adds a copy of an entry of another catalogue. */
void catalogue_add_copy(struct catalogue *catalogue, const struct catalogue_entry *entry);
/* Notes that `what` ("metrics.k8s.io/v1beta1") did not answer. */
void catalogue_add_failure(struct catalogue *catalogue, const char *what, const char *cause);
/* Brings the entries into the order of groups and versions, whatever order they came in. */
void catalogue_finish(struct catalogue *catalogue);

/* An APIGroupDiscoveryList: all groups with all they serve. `first_group` is the order of its first. */
void catalogue_add_aggregated(struct catalogue *catalogue, const struct tape *tape, unsigned first_group);
/* An APIGroupDiscovery, an item of it, at `at`. */
void catalogue_add_group(struct catalogue *catalogue, const struct tape *tape, size_t at, unsigned order);
/* An APIResourceList: what one group version serves. */
void catalogue_add_legacy(struct catalogue *catalogue, const struct tape *tape, struct str group,
                          struct str version, unsigned group_order, unsigned version_order);
/* A kind that an object has, and of which nobody tells more: its plural is guessed. It stands behind all that
 * are there; nothing happens when that very kind is. */
void catalogue_add_guess(struct catalogue *catalogue, struct str api_version, struct str kind,
                         bool namespaced);

/* --- The plural that a kind most likely has, where nobody tells. Owner: the caller frees it. Any thread. */

/* "Widget" gives "widgets", "Policy" "policies", as kubectl guesses it; a new text. */
char *plural_guess(struct str kind);
