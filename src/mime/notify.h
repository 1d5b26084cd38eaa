/* Which delivery status notifications a mail asks its relays for (RFC 3461). */
#ifndef MQ_MIME_NOTIFY_H
#define MQ_MIME_NOTIFY_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Bits of mq_notify.when. */
enum {
    MQ_NOTIFY_NEVER = 1, /* excludes the others */
    MQ_NOTIFY_SUCCESS = 2,
    MQ_NOTIFY_FAILURE = 4,
    MQ_NOTIFY_DELAY = 8
};

enum mq_notify_ret { MQ_NOTIFY_RET_UNSAID, MQ_NOTIFY_RET_FULL, MQ_NOTIFY_RET_HDRS };

#define MQ_NOTIFY_ENVID_MAX 100 /* octets, as xtext (section 4.4) */
/* Room for " RET=FULL ENVID=…", or " NOTIFY=SUCCESS,FAILURE,DELAY", with the NUL. */
#define MQ_NOTIFY_PARAMS_ROOM 128

/* All zero: asks for nothing, the relay decides. */
struct mq_notify {
    unsigned when;
    enum mq_notify_ret ret;              /* how much of the mail a bounce returns */
    char envid[MQ_NOTIFY_ENVID_MAX + 1]; /* as given, not xtext: printable ASCII without spaces */
};

bool mq_notify_asks(const struct mq_notify *notify);

/* Set one parameter; words may be in any case. MQ_INVALID, field "dsn", for a bad value. set_when()
 * takes words with commas between them, and replaces those that were set before. */
enum mq_status mq_notify_add_when(struct mq_notify *notify, struct mq_str word,
                                  struct mq_error *err);
enum mq_status mq_notify_set_when(struct mq_notify *notify, struct mq_str list,
                                  struct mq_error *err);
enum mq_status mq_notify_set_ret(struct mq_notify *notify, struct mq_str word,
                                 struct mq_error *err);
enum mq_status mq_notify_set_envid(struct mq_notify *notify, struct mq_str envid,
                                   struct mq_error *err);

/* Write the parameters of MAIL and of RCPT, each with a space before it; "" if there are none. */
void mq_notify_mail_params(const struct mq_notify *notify, char out[MQ_NOTIFY_PARAMS_ROOM]);
void mq_notify_rcpt_params(const struct mq_notify *notify, char out[MQ_NOTIFY_PARAMS_ROOM]);

/* Append and read the job's column `fields`: a JSON object whose "dsn" has these parameters. A
 * value that cannot be read, or fails the checks above, asks for nothing. Only error: MQ_NOMEM. */
void mq_notify_write(const struct mq_notify *notify, struct mq_buffer *out);
enum mq_status mq_notify_read(struct mq_str json, struct mq_notify *out, struct mq_error *err);

#endif
