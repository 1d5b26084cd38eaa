/* The bytes of an intent file. Only intent.c writes them, only read.c reads those of others.
 */
#ifndef MQ_SEND_INTENT_FORMAT_H
#define MQ_SEND_INTENT_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "send/intent/intent.h"
#include "send/transport.h"

#define MQ_INTENT_MAGIC      "mqintent"
#define MQ_INTENT_VERSION    1
#define MQ_INTENT_SLOTS_MAX  16384
#define MQ_INTENT_RESULT_MAX MQ_TARGET_UNEXPLAINED /* the last of them */
#define MQ_INTENT_BOOT_MAX   40
#define MQ_INTENT_SUFFIX     ".intent"
#define MQ_INTENT_TEMPORARY  ".starting" /* before the rename */

struct mq_intent_header {
    char magic[8];
    uint32_t version;
    uint32_t slot_count;
    uint64_t host;                 /* hash of the host's name */
    char boot[MQ_INTENT_BOOT_MAX]; /* kernel's random id of this boot, NUL-padded; "" unknown */
    int64_t pid;                   /* for people; process ids are used again and prove nothing */
    char reserved[56];
};

/* Two cache lines. `phase` is stored last. */
struct mq_intent_slot {
    _Atomic uint32_t phase; /* enum mq_intent_phase */
    int32_t code;
    int64_t job_id;
    int64_t at_s;
    int32_t handed_over;
    uint8_t results[MQ_INTENT_RECIPIENTS];
};

_Static_assert(sizeof(struct mq_intent_header) == 128, "the header's size is part of the format");
_Static_assert(sizeof(struct mq_intent_slot) == 128, "a slot's size is part of the format");

/* The parts of a header that say where its process runs. */
void mq_intent_describe_host(struct mq_intent_header *header);
/* directory/token+suffix, malloc'ed; NULL without memory. */
char *mq_intent_path(const char *directory, const char *token, const char *suffix);

#endif
