/* Of which state of the sources this binary is.
 * Owner: constants, made by commit.cmake with each build. Anywhere. */
#pragma once

/* "44a0eb1cafe1", with "-dirty" when files were changed; empty when the sources are no clone. */
extern const char kubelua_commit[];
