/* Functions of shared libraries that most commands do not need. The program is not linked with such a
 * library: it opens it when the first of its functions is called, as loading libcurl and all that it is
 * linked with takes longer than a small audit (docs/dev/adr/0015-late-libraries.md). The files of this folder
 * define the functions that the program calls, as the headers of the libraries declare them; each calls that
 * of the library. Owner: the process; a library stays open. On any thread. */
#pragma once
#include <stdatomic.h>

/* Opens the library and returns the function. Without them it ends the process, as the loader does where a
 * library is missing that a program is linked with. */
void *late_find(const char *library, const char *name);

static inline void *late_function(void *_Atomic *found, const char *library, const char *name)
{
    void *function = atomic_load_explicit(found, memory_order_acquire);
    if (function) return function;
    function = late_find(library, name);
    atomic_store_explicit(found, function, memory_order_release);
    return function;
}

/* The function of that name, to be called. The section of the program tells packages what it opens
 * (deploy/package/late). */
#define LATE_FUNCTION(library, name)                                                                        \
    ((__typeof__(name) *)(__extension__({                                                                   \
        static const char late_name[] __attribute__((section("late_functions"), used)) = library " " #name; \
        static void *_Atomic late_found;                                                                    \
        late_function(&late_found, library, #name);                                                         \
    })))

/* Defines a function with that number of arguments, of these types. */
#define LATE_0(library, type, name)            \
    type(name)(void)                           \
    {                                          \
        return LATE_FUNCTION(library, name)(); \
    }
#define LATE_1(library, type, name, A)          \
    type(name)(A a)                             \
    {                                           \
        return LATE_FUNCTION(library, name)(a); \
    }
#define LATE_2(library, type, name, A, B)          \
    type(name)(A a, B b)                           \
    {                                              \
        return LATE_FUNCTION(library, name)(a, b); \
    }
#define LATE_3(library, type, name, A, B, C)          \
    type(name)(A a, B b, C c)                         \
    {                                                 \
        return LATE_FUNCTION(library, name)(a, b, c); \
    }
#define LATE_4(library, type, name, A, B, C, D)          \
    type(name)(A a, B b, C c, D d)                       \
    {                                                    \
        return LATE_FUNCTION(library, name)(a, b, c, d); \
    }
#define LATE_5(library, type, name, A, B, C, D, E)          \
    type(name)(A a, B b, C c, D d, E e)                     \
    {                                                       \
        return LATE_FUNCTION(library, name)(a, b, c, d, e); \
    }
#define LATE_6(library, type, name, A, B, C, D, E, F)          \
    type(name)(A a, B b, C c, D d, E e, F f)                   \
    {                                                          \
        return LATE_FUNCTION(library, name)(a, b, c, d, e, f); \
    }
#define LATE_7(library, type, name, A, B, C, D, E, F, G)          \
    type(name)(A a, B b, C c, D d, E e, F f, G g)                 \
    {                                                             \
        return LATE_FUNCTION(library, name)(a, b, c, d, e, f, g); \
    }
