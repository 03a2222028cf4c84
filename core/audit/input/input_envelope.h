/* An object of which not all is in the window: a List of any length, or a large single one; see input_json.c.
 * Owner: audit_input_read; for the readers of JSON only. */
#pragma once
#include "audit/input/input_reader.h"

/* Hands over what the object holds at whose bracket the window stands, and moves behind it. False: it is
 * broken, which was told. */
bool input_read_envelope(struct input_reader *reader);
/* The elements of the array in which the window stands, behind its bracket, and `line` the line of that, or
 * of the list that it is in. False: broken, and told. */
bool input_read_elements(struct input_reader *reader, const struct input_type *type, size_t line);
