/* enqueue()'s arguments, and the job that is made of them and their message. */
#ifndef MQ_PHP_MESSAGE_MAIL_H
#define MQ_PHP_MESSAGE_MAIL_H

#include "php.h"

#include "mime/notify.h"
#include "queue/enqueue.h"

struct mq_job;

/* The arguments with every conversion done that may run PHP code (__toString(), getTimestamp()), so
 * that composing and storing are undisturbed. It owns one reference to each value. */
struct mq_php_arguments {
    zval message;           /* what mq_php_message_read() gave; undefined: none */
    zend_string *reference; /* NULL: none */
    zend_string *type;      /* NULL: "mail" */
    zend_long priority;
    int64_t send_at; /* 0: now */
    int64_t expires_at;
    bool expires; /* expires_at was given */
    zend_long max_attempts;
    bool max_attempts_given;
    zend_string *envelope_from; /* NULL: not given */
    zval recipients;            /* array; undefined: not given */
    struct mq_notify notify;    /* "dsn" */
};

/* Zeroed, they are none. */
void mq_php_arguments_clear(struct mq_php_arguments *args);
/* Once the mail is prepared: closes the message's files, frees its strings. */
void mq_php_arguments_drop_message(struct mq_php_arguments *args);

/* Each reads one, which is not null. MQ_MESSAGE with the field; MQ_THROWN where PHP code threw. */
enum mq_status mq_php_arguments_recipients(struct mq_php_arguments *args, const zval *value,
                                           struct mq_error *err);
enum mq_status mq_php_arguments_dsn(struct mq_php_arguments *args, const zval *value,
                                    struct mq_error *err);
/* From an array keyed by enqueue()'s parameter names. */
enum mq_status mq_php_arguments_read(struct mq_php_arguments *args, HashTable *array,
                                     struct mq_error *err);

/* A mail ready to be stored, in malloc'ed memory; `job` points into the rest and into the
 * arguments, which have to live as long. It is zeroed before. */
struct mq_php_mail {
    struct mq_new_job job;
    struct mq_buffer body;    /* wire form */
    struct mq_buffer subject; /* of it */
    char *message_id;
    char *envelope_from;
    struct mq_strings recipients;
};

void mq_php_mail_clear(struct mq_php_mail *mail);

/* Makes the job. Runs no PHP code. An envelope that the mail has already stays. MQ_MESSAGE,
 * MQ_INVALID. */
enum mq_status mq_php_mail_prepare(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                                   int64_t now_s, struct mq_error *err);

/* Prepares and stores. *id is unchanged where the pair is queued already. */
enum mq_status mq_php_mail_store(struct mq_queue *queue, const struct mq_php_arguments *args,
                                 int64_t *id, struct mq_error *err);

/* For a message that the worker composes: its body, and what it says of the envelope; of a text
 * only what the job does not say. Runs no PHP code. */
enum mq_status mq_php_mail_compose(struct mq_php_mail *mail, const zval *message,
                                   const struct mq_job *job, struct mq_error *err);

#endif
