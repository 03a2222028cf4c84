/* Values that an operator gives for parameters of scripts and of their rules: by name, for all that declare
 * it, or for one script or one rule, which wins. Values come from the environment, from files and folders,
 * and from flags; later ones of this list win. Owner: their creator; they outlive the scripts that are handed
 * them. On any one thread; adding and reading are for the start of a command, the rest raises nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct params;

enum { PARAM_BYTES_MAX = 64 << 10 /* of a value, as JSON */ };

/* Where a value is from. Values of files have PARAM_FROM_FILES and the number of the file; those of flags
 * come after the last file. */
enum param_order { PARAM_FROM_ENVIRONMENT, PARAM_FROM_FILES, PARAM_FROM_FLAGS = 1 << 20 };

/* A value as the user gave it. */
struct param_given {
    const char *script; /* NULL: of every script, and rule of it, that declares it */
    const char *rule;   /* NULL: of the script itself, and of every rule that declares it */
    const char *name;   /* of the environment: in upper case */
    const char *value;
    bool is_json;  /* of a YAML file; else it is as it was written */
    bool is_loose; /* of a folder: nobody need declare it */
    int order;
    const char *source; /* "--param restarts", "params.yaml:3: restarts", "KUBELUA_PARAM_RESTARTS" */
};

struct params *params_new(void);
/* NULL is allowed. */
void params_free(struct params *params);
/* "restarts=10", "container-restarts.restarts=10", "alerts:webhook=https://...", as --param takes it. The
 * value is read as what declares it says: a list is written "a,b" or as JSON. */
bool params_add(struct params *params, const char *assignment, struct err *err);
/* Adds each variable KUBELUA_PARAM_NAME of the environment. */
void params_add_environment(struct params *params, char *const *environment);
/* Adds a YAML or JSON file, which is a map of names to values, or of ids of rules to such maps; or a folder
 * with a file for each name. Reads it, so that mistakes are found at the start; scripts read it again when
 * they load. ERR_IO, ERR_PARSE, ERR_INVALID with file and line. */
bool params_read(struct params *params, const char *path, struct err *err);

/* Returns a copy with the files as they are now; NULL and err when one cannot be read. NULL is allowed. */
struct params *params_read_again(const struct params *params, struct err *err);

size_t params_count(const struct params *params); /* NULL: 0 */
struct param_given params_at(const struct params *params, size_t i);
/* Copied. */
void params_put(struct params *params, const struct param_given *given);

/* --- for the files of this folder */

/* The files and folders, in their order. */
size_t params_file_count(const struct params *params);
const char *params_file(const struct params *params, size_t i);
bool params_file_is_folder(const struct params *params, size_t i);
/* Adds what is not of one of them. */
void params_copy(struct params *to, const struct params *from);
/* Adds what the text of a file says. */
bool params_parse(struct params *params, const char *path, struct str text, int order, struct err *err);
/* Splits "SCRIPT:RULE.NAME"; false and err for what has no name. The texts are the caller's. */
bool params_split(struct str key, char **script, char **rule, char **name, struct err *err);
/* The text of a file of a folder without the newline at its end. */
struct str params_text(struct str text);
