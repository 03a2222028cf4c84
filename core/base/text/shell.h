/* Words of a shell's command line. Owner: the buffer is the caller's. Any thread. */
#pragma once
#include "base/buf.h"

/* Appends `word` so that a shell takes it as one word with these bytes: as it is where nothing in it means
 * anything to a shell, in quotes otherwise. Controls are escaped, so that a terminal is given no orders;
 * bash, zsh and ksh read that. A zero byte, which no word can have, becomes U+FFFD. */
void shell_put(struct buf *out, struct str word);
