/* Rules that stand before the table of verdict.c, from a file that an administrator writes: what
 * replies mean that the table does not know. A line has the relay, the stage, the reply, the
 * verdict and perhaps a pause:
 *
 *   *.example.net rcpt 450 4.7.* "try * later" deferred pause=10m
 *
 * Patterns have "*" only; those of texts match anywhere in mq_reply_own_words(). */
#ifndef MQ_POLICY_RULES_H
#define MQ_POLICY_RULES_H

#include "core/error.h"
#include "policy/verdict.h"

#define MQ_RULES_BYTES 65536 /* of the file */
#define MQ_RULES_MAX   500

struct mq_rule {
    int line;            /* in the file, from 1 */
    unsigned stages;     /* bits 1 << enum mq_stage */
    struct mq_str host;  /* pattern of the relay's host */
    char code[4];        /* digits, or 'x' for any; "": not asked */
    int enhanced[3];     /* -1: any; [0] is 0: not asked */
    struct mq_str words; /* pattern; its data is NULL: not asked */
    enum mq_outcome verdict;
    int pause_s; /* 0: as the reply says, or as usual */
};

struct mq_rules;

/* Parses a file's text; `name` is for errors. MQ_CONFIG with field "verdicts", the line and the
 * cure. */
enum mq_status mq_rules_parse(struct mq_str text, const char *name, struct mq_rules **out,
                              struct mq_error *err);
void mq_rules_free(struct mq_rules *rules); /* or NULL */
size_t mq_rules_count(const struct mq_rules *rules);
/* Returns the first rule that matches, or NULL. The reply has a 4yz or 5yz code. */
const struct mq_rule *mq_rules_find(const struct mq_rules *rules, const char *host,
                                    enum mq_stage stage, const struct mq_reply *reply,
                                    const char *words);

#endif
