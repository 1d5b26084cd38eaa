/* Both halves of the envelope that a message names. */
#ifndef TESTS_ENVELOPE_OF_H
#define TESTS_ENVELOPE_OF_H

#include <stdlib.h>

#include "mime/wire/envelope.h"

/* On an error `out` stays as it was. */
static inline enum mq_status envelope_of(struct mq_str raw, struct mq_envelope *out,
                                         struct mq_error *err)
{
    char *from = NULL;
    enum mq_status status = mq_envelope_sender(raw, &from, err);
    if (status == MQ_OK) {
        status = mq_envelope_recipients(raw, &out->recipients, err);
    }
    if (status != MQ_OK) {
        free(from);
        return status;
    }
    free(out->from);
    out->from = from;
    return MQ_OK;
}

#endif
