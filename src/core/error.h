/* Status codes and error records: the one way in which this library says that something failed. */
#ifndef MQ_CORE_ERROR_H
#define MQ_CORE_ERROR_H

#include <stdbool.h>

/* Kinds of failures, each with another cure, exception class and exit code. */
enum mq_status {
    MQ_OK = 0,
    MQ_NOMEM,      /* out of memory */
    MQ_INVALID,    /* an argument is out of range */
    MQ_MESSAGE,    /* a field of a message cannot be sent as it is; field names it */
    MQ_CONFIG,     /* a config value, DSN or option that cannot be used; field names it */
    MQ_BUSY,       /* another connection holds the write lock; trying again may help */
    MQ_TX_ABORTED, /* the database undid the transaction because of another one; repeat it */
    MQ_READONLY,   /* the file or its directory cannot be written */
    MQ_CANTOPEN,   /* the file or its directory cannot be opened */
    MQ_FULL,       /* disk or quota is full */
    MQ_CORRUPT,    /* not a database, or a damaged one */
    MQ_IO,         /* the system reported an I/O error */
    MQ_REPLACED,   /* another file has the open file's name now: reopen */
    MQ_SCHEMA,     /* the tables are not as this version needs them */
    MQ_DUPLICATE,  /* a unique key has that value already */
    MQ_DATABASE,   /* any other failure of the database */
    MQ_TRANSPORT,  /* the relay's trouble, not the mail's */
    MQ_REFUSED,    /* the mail was refused for good */
    MQ_THROWN,     /* a PHP exception is pending already; add none */
    MQ_BAILOUT     /* PHP unwinds (bailout): free and return; the method calls zend_bailout() */
};
#define MQ_ERROR_FIELD_MAX 64
#define MQ_ERROR_TEXT_MAX  640
/* A function sets it only when it returns another status than MQ_OK. `text` names cause and cure,
 * has no secrets, and is valid UTF-8 with control characters replaced. */
struct mq_error {
    enum mq_status status;
    bool in_doubt; /* a commit failed, but its transaction may be stored all the same */
    char field[MQ_ERROR_FIELD_MAX]; /* argument, message field or config key; "" when none */
    char text[MQ_ERROR_TEXT_MAX];
};
/* Fills `err` (which may be NULL) and returns `status`: `return mq_error_set(err, …);` */
enum mq_status mq_error_set(struct mq_error *err, enum mq_status status, const char *field,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
enum mq_status mq_error_nomem(struct mq_error *err); /* with the usual text; returns MQ_NOMEM */
enum mq_status mq_status_of_errno(int sys_errno);    /* of a file operation */
/* If the call fails, the function returns its status. Only where nothing has to be freed first. */
#define MQ_TRY(call)                           \
    do {                                       \
        enum mq_status mq_try_status = (call); \
        if (mq_try_status != MQ_OK) {          \
            return mq_try_status;              \
        }                                      \
    } while (0)
const char *mq_status_name(enum mq_status status); /* "busy", "corrupt", …; never NULL */
#endif
