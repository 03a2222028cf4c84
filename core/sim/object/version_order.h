/* The order of API versions by how stable they are: v2, v1, v1beta2, v1beta1, v1alpha1, then all others by
 * name. Owner: nobody. May be called anywhere. */
#pragma once

/* Negative when `a` is preferred to `b`. */
int sim_compare_versions(const char *a, const char *b);
