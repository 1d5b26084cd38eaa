/* Several relays in one DSN, as Symfony Mailer writes them: failover(a b), roundrobin(a b), with
 * ?retry_period=15 behind. A group can be a member of another one. */
#ifndef MQ_SEND_GROUP_H
#define MQ_SEND_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_GROUP_RELAYS_MAX 64

enum mq_group_kind {
    MQ_GROUP_RELAY,     /* one relay, not a group */
    MQ_GROUP_FAILOVER,  /* the first relay that works */
    MQ_GROUP_ROUNDROBIN /* all relays that work, in turn */
};

struct mq_group {
    enum mq_group_kind kind;
    struct mq_str dsn;        /* of one relay: a piece of the text; not checked */
    int64_t retry_s;          /* how long a relay of this group is left out when it fails */
    struct mq_group *members; /* of a group */
    size_t count;
    size_t relays; /* in the group and in its groups */

    /* For the user: */
    void *relay; /* what belongs to the DSN */
    size_t next; /* ROUNDROBIN: the member whose turn it is */
};

/* MQ_CONFIG with field "transport": the text is not written like that, or has more than
 * MQ_GROUP_RELAYS_MAX relays. Text that begins with neither word is one DSN. */
enum mq_status mq_group_parse(struct mq_str text, struct mq_group *out, struct mq_error *err);
void mq_group_clear(struct mq_group *group);

/* Appends the text without secrets. MQ_CONFIG: the text or one of its DSNs cannot be read. */
enum mq_status mq_group_redact(struct mq_str text, struct mq_buffer *out, struct mq_error *err);

/* Whether a relay of the group has a secret in its DSN (mq_dsn_has_secret()). If the text is not
 * understood, it is taken as one DSN. */
bool mq_group_has_secret(struct mq_str text);

/* Adds to an error about a relay's DSN which relay of its group it is, from 1; returns `status`. */
enum mq_status mq_group_blame(int number, enum mq_status status, struct mq_error *err);

/* Appends the group's text, with name() for each DSN. */
void mq_group_write(const struct mq_group *group, struct mq_buffer *out,
                    const char *(*name)(const struct mq_group *relay));

#endif
