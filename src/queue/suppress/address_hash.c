/* An address as it is stored, and the hash that finds it. */
#include <stdlib.h>

#include "core/ascii.h"
#include "core/siphash.h"
#include "mime/idn.h"
#include "queue/suppress/internal.h"

#define ADDRESS_MAX 254

uint64_t mq_suppress_hash(const unsigned char key[MQ_SUPPRESSION_KEY], struct mq_str address)
{
    char lower[ADDRESS_MAX];
    size_t len = address.len < ADDRESS_MAX ? address.len : ADDRESS_MAX;
    for (size_t i = 0; i < len; i++) {
        lower[i] = mq_ascii_lower(address.data[i]);
    }
    return mq_siphash(key, (struct mq_str){lower, len});
}

enum mq_status mq_suppress_canonical(struct mq_str address, struct mq_buffer *out,
                                     struct mq_error *err)
{
    char *plain = NULL;
    MQ_TRY(mq_idn_address(mq_str_trim(address), "address", &plain, err));
    for (const char *c = plain; *c; c++) {
        mq_buffer_char(out, mq_ascii_lower(*c));
    }
    free(plain);
    return out->failed ? mq_error_nomem(err) : MQ_OK;
}

enum mq_status mq_suppress_hash_of(struct mq_queue *queue, struct mq_str address, uint64_t *hash,
                                   struct mq_error *err)
{
    struct mq_buffer plain = {0};
    const struct mq_suppress_state *state = mq_suppress_load(queue, err);
    if (!state) {
        return err ? err->status : MQ_CONFIG;
    }
    enum mq_status status = mq_suppress_canonical(address, &plain, err);
    *hash = status == MQ_OK ? mq_suppress_hash(state->key, mq_buffer_view(&plain)) : 0;
    mq_buffer_clear(&plain);
    return status;
}
