/* The kernel's hash, for its test. */
#include "../../ragkpi/_kernel.c"

void hashes_of(Text text, const int64_t *start, const int64_t *end, size_t count,
               uint64_t multiplier, uint64_t key_start, uint64_t *hash);
int key_of_process(uint64_t *key);

void hashes_of(Text text, const int64_t *start, const int64_t *end, size_t count,
               uint64_t multiplier, uint64_t key_start, uint64_t *hash)
{
    for (size_t row = 0; row < count; row++)
        hash[row] = hash_of((Id){text + start[row], (size_t)(end[row] - start[row])},
                            (Key){multiplier, key_start});
}

int key_of_process(uint64_t *key)
{
    Key own;
    int failed = take_key(&own);
    key[0] = own.multiplier;
    key[1] = own.start;
    return failed;
}
