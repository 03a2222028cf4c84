/* YAML as kubectl and API servers write it, read in one pass: maps and lists in block form, values on their
 * lines, literal blocks. It is several times as fast as libyaml, which reads everything else, and reads this
 * in the same way. Owner: the caller. Any thread. */
#pragma once
#include "base/yaml/yaml_documents.h"

/* Appends the documents of the source with commas between them, as JSON. False, with nothing appended: there
 * is something in it that is not of this form, or a mistake, which libyaml names. */
bool yaml_block_read(const struct yaml_source *source, struct buf *out);
