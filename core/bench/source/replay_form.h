/* Envelopes of pods in lists and events, in each of the forms that a client may request.
 * Owner: the output belongs to the client. With the source's lock held, for reading at least. */
#pragma once
#include <jansson.h>

#include "base/buf.h"
#include "bench/source/replay_out.h"
#include "bench/source/replay_pods.h"
#include "sim/store/form.h"

enum replay_form { REPLAY_JSON, REPLAY_JSON_METADATA, REPLAY_PROTOBUF, REPLAY_PROTOBUF_METADATA };

enum replay_event { REPLAY_ADDED, REPLAY_MODIFIED };

/* The form that an Accept header asks for; false when there is none, with a Status. */
bool replay_form_of(const char *accept, bool list, bool has_protobuf, enum replay_form *form,
                    json_t **refusal);
const char *replay_form_content_type(enum replay_form form, bool watch);

void replay_form_event(struct replay_out *out, enum replay_form form, enum replay_event event,
                       const struct replay_pod *pod);
/* The mark at the end of a streaming list. */
void replay_form_bookmark(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                          uint64_t version);
/* The last event of a watch: an ERROR with a Status, which it takes. */
void replay_form_error(struct replay_out *out, enum replay_form form, json_t *status);

/* A list of these pods. */
void replay_form_list(struct replay_out *out, enum replay_form form, const struct sim_served *served,
                      const struct sim_list_meta *meta, struct replay_pod *const *pods, size_t n);
