/* Fields of an object that rules read, as far as they are known: first the names in their code, then also
 * those that they read at run time. An object packed with these alone takes a fraction of the time. Owner:
 * the auditor; projections stay valid until fields_free. On one thread. */
#pragma once
#include "object/pack/projection.h"
#include "script/generation/script.h"

struct fields;

/* Creates fields. After more than `missed_max` names that rules missed, one after the other, everything is
 * kept. */
struct fields *fields_new(size_t missed_max);
void fields_free(struct fields *fields);
/* The names in the code of the script. */
void fields_add_script(struct fields *fields, struct script *script);
/* A name that will be asked for; `whole`: with all that is in it. */
void fields_expect(struct fields *fields, struct str name, bool whole);
/* Any name that begins so. */
void fields_expect_beginning(struct fields *fields, struct str beginning);
/* Returns whether the current projection has such fields. */
bool fields_have(const struct fields *fields, struct str name);
/* A name that was asked for and not there; `whole`: with all that is in it. An empty name is the whole
 * object. */
void fields_add(struct fields *fields, struct str name, bool whole);
/* Returns the current projection; NULL: everything. */
const struct projection *fields_projection(struct fields *fields);
