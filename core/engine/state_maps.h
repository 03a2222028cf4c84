/* States of scripts in ConfigMaps (k8s.state with keep = "configmap"): one for each script, named
 * kubelua-state-SCRIPT, with a key for each state. Every write names the version of the ConfigMap that was
 * read; a state that others have changed is left as it is, whatever else they changed. Owner: the engine. On
 * the engine thread. */
#pragma once
#include "informer/live/live_client.h"
#include "script/view/state_store.h"

/* Bytes of all states of a script: a ConfigMap may have 1 MiB. */
enum { STATE_MAP_MAX = 900 << 10 };
#define STATE_MAP_PREFIX "kubelua-state-"
/* Annotation: who has read the ConfigMap last, to write it from then on, and when. */
#define STATE_MAP_READER "kubelua.dev/read-by"

struct state_maps_options {
    struct live_client *live;  /* borrowed, as the clock */
    struct clock *clock;       /* of the engine thread: its wall time is in the annotation */
    const char *namespace_;    /* copied */
    const char *field_manager; /* copied; NULL: the default */
};

struct state_store *state_maps_new(const struct state_maps_options *options);
