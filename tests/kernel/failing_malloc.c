/* Allocations of a kernel that is compiled with -Dmalloc=failing_malloc and so on: the n-th fails,
 * and all after it. */
#include <stdlib.h>

void *failing_malloc(size_t size);
void *failing_calloc(size_t count, size_t size);
void *failing_realloc(void *old, size_t size);

long allocations_left = -1; /* -1 for any number */

static int fails(void)
{
    if (allocations_left > 0)
        allocations_left--;
    return allocations_left == 0;
}

void *failing_malloc(size_t size) { return fails() ? NULL : malloc(size); }
void *failing_calloc(size_t count, size_t size) { return fails() ? NULL : calloc(count, size); }
void *failing_realloc(void *old, size_t size) { return fails() ? NULL : realloc(old, size); }
