/* Words of a shell's command line. Owner: the buffer is the caller's. Any thread. */
#pragma once
#include "base/buf.h"

/* Appends `word` quoted for a shell: as it is if nothing in it is special, in quotes otherwise. Controls are
 * escaped, so that a terminal executes none; bash, zsh and ksh read that. A zero byte, which no word can
 * have, becomes U+FFFD. */
void shell_put(struct buf *out, struct str word);
