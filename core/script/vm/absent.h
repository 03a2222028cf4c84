/* The last field that a script read and that was not there: what makes "attempt to index a nil value" tell
 * where. Owner: the script, which holds one; it keeps the object alive until the call ends. On the engine
 * thread. */
#pragma once
#include "base/buf.h"
#include "base/str.h"
#include "object/value/value.h"

struct script;
struct absent;

void absent_key(struct absent *absent, struct root *root, struct value parent, struct str key);
/* `index` as Lua counts: from 1. */
void absent_index(struct absent *absent, struct root *root, struct value parent, size_t index);
/* A name of k8s that there is not, and what an error about its nil is to say of it. */
void absent_name(struct absent *absent, const char *name, const char *hint);
void absent_clear(struct absent *absent);
/* Appends path and object to the text of an error about a nil value, and the method of objects that was meant
 * by it or by a function that was not called; leaves any other text alone. */
void absent_explain(struct script *script, struct buf *text);
/* "Pod shop/web-1". */
void object_title(const struct root *root, struct buf *out);
