/*
 * Preloaded into PHP by the sanitizer run and by tests that inject faults.
 *
 * Debian's PHP loads extensions with RTLD_DEEPBIND: such a library prefers its own dependencies'
 * symbols to those of preloaded libraries. AddressSanitizer refuses to run like that, and preloaded
 * tools (faketime, fiu) are passed by without a word. This dlopen drops that one flag.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef void *(*dlopen_function)(const char *, int);

__attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
    static dlopen_function next;
    if (next == NULL) {
        next = (dlopen_function)dlsym(RTLD_NEXT, "dlopen");
    }
    return next(path, flags & ~RTLD_DEEPBIND);
}
