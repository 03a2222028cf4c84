/* Encodings besides JSON: bodies and replies in protobuf and YAML.
 * Owner: see each function. Called on the connections' threads. */
#pragma once
#include "base/err.h"
#include "sim/store/request.h"

/* Reads a body that is no JSON into `*json`, and has `*request` refer to it. False after an answer 400. */
bool sim_encode_request(struct sim_request *request, struct buf *json, struct sim_reply *reply);
/* Returns the first document of YAML, a new reference, an empty map if there is none; NULL with an error.
 * `may_repeat`: keys may stand twice in JSON. */
json_t *sim_read_yaml(struct str text, bool may_repeat, struct err *err);
/* Appends YAML as a server writes it. */
void sim_put_yaml(struct buf *out, const json_t *value);
/* A list of an object (`around`, which is taken) that is written item by item. The buffer is that of all
 * calls, and may be emptied between them; what is written may wait in the list until its end. */
struct sim_yaml_list;
struct sim_yaml_list *sim_yaml_list_begin(struct buf *out, json_t *around);
void sim_yaml_list_add(struct sim_yaml_list *list, const json_t *item);
void sim_yaml_list_end(struct sim_yaml_list *list);
/* Also before its end. NULL is allowed. */
void sim_yaml_list_free(struct sim_yaml_list *list);
/* Turns a complete reply into protobuf or YAML if the client wants that, and the object has a form in it.
 * Lists have theirs already. */
void sim_encode_reply(const struct sim_request *request, struct sim_reply *reply);
/* Returns a stream of length-prefixed events from one of lines of JSON, which it takes. What is no event, by
 * a fault, is passed on as it is. */
struct sim_stream *sim_encode_watch(struct sim_stream *lines);
