/* Allocations of a kernel that is compiled with -Dmalloc=failing_malloc and so on: the n-th fails,
 * and all after it; and how many are not yet released. */
#include <stdlib.h>

void *failing_malloc(size_t size);
void *failing_calloc(size_t count, size_t size);
void *failing_realloc(void *old, size_t size);
void failing_free(void *old);

long allocations_left = -1; /* -1 for any number */
long allocations_held = 0;

static int fails(void)
{
    if (allocations_left > 0)
        allocations_left--;
    return allocations_left == 0;
}

static void *held(void *memory)
{
    allocations_held += memory != NULL;
    return memory;
}

void *failing_malloc(size_t size) { return fails() ? NULL : held(malloc(size)); }
void *failing_calloc(size_t count, size_t size)
{
    return fails() ? NULL : held(calloc(count, size));
}

void *failing_realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    return old == NULL ? held(realloc(NULL, size)) : realloc(old, size);
}

void failing_free(void *old)
{
    allocations_held -= old != NULL;
    free(old);
}
