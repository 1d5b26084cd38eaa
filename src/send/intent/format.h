/* The format of an intent file. Only intent.c writes it; only read.c reads other runs' files. */
#ifndef MQ_SEND_INTENT_FORMAT_H
#define MQ_SEND_INTENT_FORMAT_H

#include <stdint.h>

#include "policy/outcome.h"
#include "send/intent/intent.h"

#define MQ_INTENT_MAGIC     "mqintent"
#define MQ_INTENT_VERSION   1
#define MQ_INTENT_BOOT_MAX  40
#define MQ_INTENT_SUFFIX    ".intent"
#define MQ_INTENT_TEMPORARY ".starting" /* the file's name ends so until it is complete */

struct mq_intent_header {
    char magic[8];
    uint32_t version;
    uint32_t slot_count;
    uint64_t host;                 /* hash of the host's name */
    char boot[MQ_INTENT_BOOT_MAX]; /* kernel's random id of this boot, NUL-padded; "" unknown */
    int64_t pid;                   /* for people: process ids are used again and prove nothing */
    char reserved[56];
};

/* Records of version 1 have these values. Other values need another version. */
_Static_assert(MQ_OUTCOME_RELEASED == 0 && MQ_OUTCOME_DELIVERED == 1 && MQ_OUTCOME_REFUSED == 2 &&
                   MQ_OUTCOME_DEFERRED == 3 && MQ_OUTCOME_DENIED == 4 &&
                   MQ_OUTCOME_UNCERTAIN == 5 && MQ_OUTCOME_UNEXPLAINED == 6,
               "the values of outcomes are part of the format");
_Static_assert(sizeof(struct mq_intent_header) == 128, "the header's size is part of the format");
_Static_assert(sizeof(struct mq_intent_entry) == 128, "a slot's size is part of the format");

/* Fills in the header's host and boot, for this process. */
void mq_intent_describe_host(struct mq_intent_header *header);
/* Returns directory/token+suffix, malloc'ed; NULL without memory. */
char *mq_intent_path(const char *directory, const char *token, const char *suffix);

#endif
