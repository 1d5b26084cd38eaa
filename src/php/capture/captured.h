/* A captured mail: from the arguments of PHP's function to enqueue()'s. */
#ifndef MQ_PHP_CAPTURE_CAPTURED_H
#define MQ_PHP_CAPTURE_CAPTURED_H

#include "php.h"

#include "core/error.h"

struct mq_php_arguments;

/* One mail, in request memory. */
struct mq_capture {
    zend_string *to; /* to, subject and message: as they would be written */
    zend_string *subject;
    zend_string *message;
    zend_string *headers;    /* without their last line end; NULL: none */
    zend_string *script;     /* the line that mail.add_x_header adds; NULL: none */
    zend_string *parameters; /* $additional_params; NULL: none; borrowed */
};

/* ---- header_text.c: what mail() makes of its arguments before it writes to sendmail_path ---- */

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

/* The header section and its empty line. What follows a line that is not a field belongs to the
 * text, as for sendmail. */
zend_string *mq_capture_head(const struct mq_capture *mail);
/* The whole message, behind this header section. */
zend_string *mq_capture_message(const struct mq_capture *mail, const zend_string *head);

/* ---- mb_send_mail.c: what mb_send_mail() does before it goes on as mail() does ---- */

/* Encodes the subject, converts the text and adds the MIME fields that the headers do not have, by
 * mb_language() and the internal encoding. MQ_CONFIG where one of mbstring's functions is missing
 * or refuses. */
enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err);

/* ---- as_sendmail.c: what sendmail -t -i would add ---- */

/* Sets the message and the sender of the envelope: -f's, else the message's, else the ini setting
 * sendmail_from, else the user that PHP runs as; and its recipients: the message's, and those of
 * the command line. A message without From gets one. Users of this host get its domain. MQ_MESSAGE
 * with the field: "-f", "sendmail_from", "additional_params" (its recipients), "Bcc" and other
 * headers. `args` is zeroed; the caller clears it, also on failure. */
enum mq_status mq_capture_arguments(const struct mq_capture *mail, struct mq_php_arguments *args,
                                    struct mq_error *err);

#endif
