/* Converts the arguments of a captured mail() into those of enqueue(). */
#ifndef MQ_PHP_CAPTURE_INTERNAL_H
#define MQ_PHP_CAPTURE_INTERNAL_H

#include "php.h"

#include "core/error.h"

struct mq_php_arguments;

/* One mail, in request memory. */
struct mq_capture {
    zend_string *to; /* `to`, `subject` and `message` as PHP would write them */
    zend_string *subject;
    zend_string *message;
    zend_string *headers;    /* without the last line end; NULL: none */
    zend_string *script;     /* the line that mail.add_x_header adds; NULL: none */
    zend_string *parameters; /* $additional_params; NULL: none; borrowed */
};

/* ---- header_text.c: what mail() does to its arguments before it writes to sendmail_path ---- */

void mq_capture_clear(struct mq_capture *mail);

/* Releases the string *s and stores `by`, which can be NULL, in its place. */
void mq_capture_replace(zend_string **s, zend_string *by);

/* Returns $to or $subject as PHP writes it: without white space at the end, and with a space for
 * each control character, except in folds (CR LF and white space). */
zend_string *mq_capture_one_line(zend_string *text);

/* Reads $additional_headers, an array or a string; both are NULL if not given. False if an
 * exception is pending. *out is NULL if there are no headers. */
bool mq_capture_headers(HashTable *array, zend_string *text, zend_string **out);

/* The line end that PHP and mb_send_mail() put between header lines and into folds. */
const char *mq_capture_line_end(void);

/* Adds the header of the ini setting mail.add_x_header, if that is on. */
void mq_capture_add_script(struct mq_capture *mail);
/* Whether PHP refuses the headers: they have an empty line in them or do not begin with a name. */
bool mq_capture_malformed(const struct mq_capture *mail);
/* Writes to mail.log (an ini setting). A stream or an error handler can leave an exception. */
void mq_capture_log(const struct mq_capture *mail);

/* Returns the header section and its empty line. A line that is not a header field ends the header
 * section, as in sendmail: it belongs to the text. */
zend_string *mq_capture_head(const struct mq_capture *mail);
/* Returns the whole message: this header section and the body. */
zend_string *mq_capture_message(const struct mq_capture *mail, const zend_string *head);

/* ---- mb_send_mail.c: what mb_send_mail() does before it goes on as mail() does ---- */

/* Encodes the subject, converts the text and adds missing MIME fields, as mb_language() and the
 * internal encoding say. MQ_CONFIG if a function of mbstring is missing or refuses. */
enum mq_status mq_capture_mb_convert(struct mq_capture *mail, struct mq_error *err);

/* ---- as_sendmail.c: what sendmail -t -i would add ---- */

/* Sets the message and the envelope in `args`. The sender is that of -f, or else the message's,
 * else the ini setting sendmail_from, or else the user that PHP runs as. The recipients are those
 * of the message and of the command line. A message without From gets one. Local users get this
 * host's domain. MQ_MESSAGE with the field: "-f", "sendmail_from", "additional_params" (its
 * recipients), "Bcc" and other headers. The caller zeroes `args` before and always clears it
 * afterwards. */
enum mq_status mq_capture_arguments(const struct mq_capture *mail, struct mq_php_arguments *args,
                                    struct mq_error *err);

#endif
