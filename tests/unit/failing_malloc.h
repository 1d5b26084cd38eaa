/* Makes the n-th request for memory fail. The file defines the wrappers: include it in one file of
 * a program that is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#ifndef MQ_TESTS_FAILING_MALLOC_H
#define MQ_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int left = -1; /* requests until one fails; -1: none fails */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

#endif
