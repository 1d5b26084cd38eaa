/* The command line that mail() would start, as far as it is about the envelope. */
#ifndef MQ_PHP_CAPTURE_COMMAND_LINE_H
#define MQ_PHP_CAPTURE_COMMAND_LINE_H

#include "php.h"

/* In request memory. */
struct mq_capture_command {
    zend_string *sender;     /* of the last -f or -r, as given; NULL: none */
    zend_string *name;       /* of -F; NULL: none */
    zend_string *recipients; /* words that are no options, with commas between; NULL: none */
};

/* Reads the options of sendmail_path, then `parameters` (NULL: none) or, when it is set,
 * mail.force_extra_parameters. Options that sendmail knows and the queue has no use for are left
 * out. */
void mq_capture_command_read(const zend_string *parameters, struct mq_capture_command *out);
void mq_capture_command_clear(struct mq_capture_command *command);

#endif
