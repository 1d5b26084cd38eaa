/* The media type of an attachment for which none was given. */
#ifndef MQ_PHP_MESSAGE_MEDIA_TYPE_H
#define MQ_PHP_MESSAGE_MEDIA_TYPE_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

#define MQ_PHP_MEDIA_HEAD 8192 /* octets of the content that tell the type */

struct mq_php_media_content {
    struct mq_str text; /* all of it, or at least a head of it */
    bool whole;         /* all */
};

/* By the name's ending where the content does not contradict it, else by ext/fileinfo where it is
 * loaded and may be called; texts that are UTF-8 with that charset. *type is the caller's
 * reference. `finfo` keeps fileinfo's database from one attachment to the next; undefined at first,
 * freed by the caller. May run PHP code (an error handler). MQ_THROWN. */
enum mq_status mq_php_media_type(struct mq_str name, const struct mq_php_media_content *content,
                                 zval *finfo, zend_string **type);

#endif
