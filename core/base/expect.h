/* Soft assertions, always on: a broken expectation is logged and counted, and the caller recovers. Use must()
 * (must.h) where nothing can recover. Owner: stateless. May be used anywhere, callbacks included. */
#pragma once
#include <stdbool.h>

/* Returns whether the condition holds. */
#define expect(condition) ((condition) ? true : expect_failed(#condition, __FILE__, __LINE__))

__attribute__((cold)) bool expect_failed(const char *condition, const char *file, int line);
