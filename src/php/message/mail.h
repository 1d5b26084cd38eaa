/* enqueue()'s arguments, and the mail that is made of them. */
#ifndef MQ_PHP_MESSAGE_MAIL_H
#define MQ_PHP_MESSAGE_MAIL_H

#include "mime/notify.h"
#include "php.h"
#include "queue/enqueue.h"

/* The arguments with every conversion done that may run PHP code (__toString(), getTimestamp()), so
 * that composing and storing are undisturbed. It owns one reference to each value. */
struct mq_php_mail_args {
    zval message;           /* null, or what mq_php_message_read() gave */
    zend_string *reference; /* NULL: none */
    zend_string *type;      /* NULL: "mail" */
    zend_long priority;
    int64_t send_at; /* 0: now */
    int64_t expires_at;
    bool expires; /* expires_at was given */
    zend_long max_attempts;
    bool max_attempts_given;
    zend_string *envelope_from; /* NULL: not given */
    zval recipients;            /* array or null */
    struct mq_notify notify;    /* "dsn" */
};

void mq_php_mail_args_init(struct mq_php_mail_args *args);
void mq_php_mail_args_clear(struct mq_php_mail_args *args);
/* Once the mail is prepared: closes the message's files, frees its strings. */
void mq_php_mail_args_drop_message(struct mq_php_mail_args *args);

/* Takes over copies of the values. MQ_THROWN where PHP code threw. */
enum mq_status mq_php_mail_set_message(struct mq_php_mail_args *args, zval *value,
                                       struct mq_error *err);
enum mq_status mq_php_mail_set_recipients(struct mq_php_mail_args *args, const zval *value,
                                          struct mq_error *err);
enum mq_status mq_php_mail_set_dsn(struct mq_php_mail_args *args, const zval *value,
                                   struct mq_error *err);
/* From an array keyed by enqueue()'s parameter names; `args` is initialised. */
enum mq_status mq_php_mail_from_array(struct mq_php_mail_args *args, HashTable *array,
                                      struct mq_error *err);

/* A mail ready to be stored, in malloc'ed memory; `job` points into the rest and into the
 * arguments, which have to live as long. */
struct mq_php_mail {
    struct mq_new_job job;
    struct mq_buffer body;
    struct mq_strings recipients;
    char *envelope_from;
    char *message_id;
};

void mq_php_mail_init(struct mq_php_mail *mail);
void mq_php_mail_clear(struct mq_php_mail *mail);
/* Runs no PHP code. MQ_MESSAGE, MQ_INVALID. `mail` is initialised; an envelope_from or recipients
 * that it has already stay. */
enum mq_status mq_php_mail_prepare(struct mq_php_mail *mail, const struct mq_php_mail_args *args,
                                   int64_t now_s, struct mq_error *err);

#endif
