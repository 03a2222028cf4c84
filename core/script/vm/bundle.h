/* The source of a generation of a script: the text of its file and of each module that it required, read once
 * and kept, so that what runs can be told from what the files say now, and can be loaded again whatever
 * became of them. Owner: counted references, on one thread. The texts live as long as the bundle. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct bundle;

/* Empty, with one reference for the caller. */
struct bundle *bundle_new(void);
struct bundle *bundle_ref(struct bundle *bundle);
/* NULL is allowed. */
void bundle_unref(struct bundle *bundle);

/* The text of a Lua file, from the bundle, else from the file, and kept. ERR_NOT_FOUND when there is no such
 * file: that is kept too, as it may come. */
bool bundle_text(struct bundle *bundle, const char *path, struct str *text, struct err *err);
/* The same for a file that is no source: values of parameters. It does not count in the hash of sources. */
bool bundle_data(struct bundle *bundle, const char *path, struct str *text, struct err *err);
/* The text of a file that is not read: of a test. Copied. */
void bundle_set_text(struct bundle *bundle, const char *path, struct str text);
/* Returns whether the files are equal to the bundle; `*changed` (optional) is the path of one that is not,
 * borrowed. */
bool bundle_is_current(const struct bundle *bundle, const char **changed);
/* The files, the script's first; those that were not found too. */
size_t bundle_count(const struct bundle *bundle);
const char *bundle_path(const struct bundle *bundle, size_t i);
/* As sha256sum tells it of the first file: 64 digits. */
enum { BUNDLE_HASH_LEN = 64 };
void bundle_hash(const struct bundle *bundle, char out[BUNDLE_HASH_LEN + 1]);
/* Of all texts, wherever their files are: equal for the same script and modules in another folder. */
void bundle_sources_hash(const struct bundle *bundle, char out[BUNDLE_HASH_LEN + 1]);
void bundle_text_hash(struct str text, char out[BUNDLE_HASH_LEN + 1]);

/* --- texts that are no files
 *
 * Texts from standard input or a server are given before anything is loaded, are the same for all
 * bundles, and are kept by the process. */

/* Copied. A path is given once. */
void bundle_give_text(const char *path, struct str text);
bool bundle_is_given(const char *path);
/* The path as it is kept, or NULL. */
const char *bundle_given_path(const char *path);
