/* What PHP's mail() makes of its arguments before it writes them to sendmail_path. */
#ifndef MQ_PHP_CAPTURE_HEADER_TEXT_H
#define MQ_PHP_CAPTURE_HEADER_TEXT_H

#include "php.h"

/* One mail, in request memory. */
struct mq_capture {
    zend_string *to; /* to, subject and message: as they would be written */
    zend_string *subject;
    zend_string *message;
    zend_string *headers;    /* without their last line end; NULL: none */
    zend_string *script;     /* the line that mail.add_x_header adds; NULL: none */
    zend_string *parameters; /* $additional_params; NULL: none; borrowed */
};

void mq_capture_clear(struct mq_capture *mail);

/* Releases a string and puts another, or NULL, in its place. */
void mq_capture_replace(zend_string **s, zend_string *by);

/* $to and $subject as PHP writes them: without white space at the end; what could end a line is a
 * space, but for folds (CR LF and white space). */
zend_string *mq_capture_one_line(zend_string *text);

/* $additional_headers, array or string (both NULL: not given); false: an exception is pending.
 * *out is NULL where there are none. */
bool mq_capture_headers(HashTable *array, zend_string *text, zend_string **out);

/* What mb_send_mail() and PHP use between header lines; this matters where they are folded. */
const char *mq_capture_line_end(void);

/* mail.add_x_header. */
void mq_capture_add_script(struct mq_capture *mail);
/* Whether the headers have an empty line in them or begin with no name, so that PHP refuses them.
 */
bool mq_capture_malformed(const struct mq_capture *mail);
/* Writes mail.log. A stream or an error handler may throw. */
void mq_capture_log(const struct mq_capture *mail);

/* The header section and its empty line, with a Bcc of further recipients unless they are NULL.
 * What follows a line that is not a field belongs to the text, as for sendmail. */
zend_string *mq_capture_head(const struct mq_capture *mail, const zend_string *recipients);
/* The whole message, behind this header section. */
zend_string *mq_capture_message(const struct mq_capture *mail, const zend_string *head);

#endif
