/* Kinds of --history. Owner: the options. */
#pragma once
#include "app/options/options.h"
#include "base/err.h"

/* Reads the values of --history; false with an error that names the value. */
bool options_read_history(struct options *options, struct err *err);
void options_clear_history(struct options *options);
