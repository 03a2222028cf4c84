/* Values that have a form of their own in JSON, between the files of this folder. */
#pragma once
#include "sim/proto/wire.h"

enum { SIM_WIRE_DEPTH_MAX = 100 };

/* A moment, as JSON has it, from and to seconds and nanoseconds. */
bool sim_wire_parse_time(const char *text, int64_t *seconds, int64_t *nanos);
json_t *sim_wire_time(int64_t seconds, int64_t nanos, bool micro);

/* Reads the message of a known type, without an envelope; NULL with an error. */
json_t *sim_wire_get_message(const struct schema_type *type, struct str bytes, struct err *err);
