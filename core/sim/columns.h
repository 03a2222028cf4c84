/* Columns and cells of Tables, as the real server's printers show each built-in kind.
 * Owner: the tables are constant; cells gives a new array. May be called anywhere. */
#pragma once
#include "sim/kind.h"
