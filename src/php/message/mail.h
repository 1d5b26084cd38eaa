/* enqueue()'s arguments, and the job that is made from them. */
#ifndef MQ_PHP_MESSAGE_MAIL_H
#define MQ_PHP_MESSAGE_MAIL_H

#include "php.h"

#include "mime/notify.h"
#include "queue/enqueue.h"

struct mq_job;
struct mq_php_fields;

/* The arguments after all conversions that may run PHP code (__toString(), getTimestamp()), so
 * composing and storing run none. It owns one reference to each value. */
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
    zend_string *relay;         /* NULL: not given */
    zend_string *list;          /* NULL: not given */
    struct mq_notify notify;    /* from the argument dsn */
};

/* Releases the values and zeroes the struct. */
void mq_php_arguments_clear(struct mq_php_arguments *args);
/* Closes the message's files and frees its strings. Called when the mail is prepared. */
void mq_php_arguments_drop_message(struct mq_php_arguments *args);

/* Each reads one argument that is not null. MQ_MESSAGE with the field; MQ_THROWN if PHP threw. */
enum mq_status mq_php_arguments_recipients(struct mq_php_arguments *args, const zval *value,
                                           struct mq_error *err);
enum mq_status mq_php_arguments_dsn(struct mq_php_arguments *args, const zval *value,
                                    struct mq_error *err);
/* Reads all arguments from an array keyed by enqueue()'s parameter names. */
enum mq_status mq_php_arguments_read(struct mq_php_arguments *args, HashTable *array,
                                     struct mq_error *err);

/* MQ_INVALID if expires_at is over; also for a campaign's mails. */
enum mq_status mq_php_arguments_check_expiry(const struct mq_php_arguments *args, int64_t now_s,
                                             struct mq_error *err);
/* MQ_MESSAGE if the argument `list` is given, and the message's unsubscribe[list] is another. */
enum mq_status mq_php_check_list(struct mq_str given, struct mq_str named, struct mq_error *err);
/* Whether a header of the message names its relay. */
bool mq_php_is_relay_header(struct mq_str name);

/* A mail ready to be stored, in malloc'ed memory; zero it first. `job` points into the other
 * members and into the arguments, so both must outlive it. */
struct mq_php_mail {
    struct mq_new_job job;
    struct mq_buffer body;    /* wire form */
    struct mq_buffer subject; /* taken from the body */
    struct mq_buffer scope;   /* the list that it is mail to, as "list:news"; empty: none */
    /* Set by the caller if mq_php_arguments_name_list(). */
    const unsigned char *unsubscribe_key;
    char *message_id;
    char *envelope_from;
    char *relay; /* from the header X-MailQueue-Relay */
    struct mq_strings recipients;
};

void mq_php_mail_clear(struct mq_php_mail *mail);

/* Whether the message gets a link to unsubscribe, so that the key is needed. */
bool mq_php_arguments_name_list(const struct mq_php_arguments *args);
/* Reads that key if it is needed. */
enum mq_status mq_php_mail_key(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                               struct mq_queue *queue, struct mq_error *err);
/* suppress/link.c: what a mail to a list gets, a scope and the URI of List-Unsubscribe. */
struct mq_php_link {
    struct mq_buffer text;
    struct mq_str uri;
};
enum mq_status mq_php_mail_link(struct mq_php_mail *mail, const struct mq_php_fields *fields,
                                int64_t date_s, struct mq_php_link *link, struct mq_error *err);

/* Makes the job. Runs no PHP code. MQ_MESSAGE, MQ_INVALID. */
enum mq_status mq_php_mail_prepare(struct mq_php_mail *mail, const struct mq_php_arguments *args,
                                   int64_t now_s, struct mq_error *err);

/* Prepares and stores the mail. *id is unchanged if reference and type are queued already. */
enum mq_status mq_php_mail_store(struct mq_queue *queue, const struct mq_php_arguments *args,
                                 int64_t *id, struct mq_error *err);

/* For a message that the worker composes: makes its body, and takes from a text the parts of the
 * envelope that the job does not have. Runs no PHP code. */
enum mq_status mq_php_mail_compose(struct mq_php_mail *mail, const zval *message,
                                   const struct mq_job *job, struct mq_error *err);

#endif
