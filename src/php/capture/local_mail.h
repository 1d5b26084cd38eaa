/* What a mail program of this host adds to mail without a sender or a domain. */
#ifndef MQ_PHP_CAPTURE_LOCAL_MAIL_H
#define MQ_PHP_CAPTURE_LOCAL_MAIL_H

#include "php.h"
#include "zend_smart_str.h"

#include "core/buffer.h"

#define MQ_LOCAL_NAME_MAX 256

/* The user that the process runs as. */
struct mq_local_user {
    char name[MQ_LOCAL_NAME_MAX];
    char full_name[MQ_LOCAL_NAME_MAX]; /* "": not in passwd */
};

void mq_local_user_read(struct mq_local_user *out);

/* Appends the value of an address field with a domain for users of this host, such as "root" or
 * "Name <root>": that of /etc/mailname, or the host's full name. What is not so simple stays as it
 * is. */
void mq_local_qualify(struct mq_str list, smart_str *out);

#endif
