/* Tables of custom objects: their name and what the CRD's additionalPrinterColumns ask for.
 * Owner: each function gives a new array.
 * May be called anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

/* `columns` may be NULL: then it is name and age, as the server has it for a CRD that says nothing. */
json_t *sim_custom_columns(const json_t *columns);
json_t *sim_custom_cells(const json_t *columns, const json_t *object, int64_t now_s);
