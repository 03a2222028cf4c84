/* What stands around a pod in lists and events that are encoded as protobuf; see replay_form.h.
 * Owner: what is written belongs to the client. With the source's lock held, for reading at least. */
#pragma once
#include <jansson.h>

#include "bench/source/replay_out.h"
#include "bench/source/replay_pods.h"
#include "sim/store/form.h"

/* `metadata_only`: a PartialObjectMetadata instead of a Pod. */
void replay_protobuf_event(struct replay_out *out, bool metadata_only, struct str type,
                           const struct replay_pod *pod);
void replay_protobuf_bookmark(struct replay_out *out, bool metadata_only, uint64_t version);
/* Borrows the Status. */
void replay_protobuf_error(struct replay_out *out, const json_t *status);
void replay_protobuf_list(struct replay_out *out, bool metadata_only, const struct sim_list_meta *meta,
                          struct replay_pod *const *pods, size_t n);
