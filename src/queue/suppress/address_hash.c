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
