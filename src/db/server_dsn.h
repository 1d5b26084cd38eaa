/* DSNs of database servers as PDO spells them: "pgsql:host=db;dbname=app", "mysql:host=db;…". */
#ifndef MQ_DB_SERVER_DSN_H
#define MQ_DB_SERVER_DSN_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* All owned. User and password are taken out of the text: PDO is given them beside it, and no
 * message about the text can have them. */
struct mq_server_dsn {
    bool mysql;             /* else PostgreSQL */
    char *text;             /* what PDO is given, defaults added */
    char *shown;            /* what may be printed: as it was, without user and secrets */
    char *user;             /* NULL: not in the DSN */
    char *password;         /* NULL: not in the DSN */
    bool has_secret;        /* a password, or another secret that `shown` leaves out */
    long connect_timeout_s; /* 0: not in the DSN */
};

/* Whether it is a server's by its prefix, in any case. */
bool mq_server_dsn_is(struct mq_str text);

/* Kinds of databases that are none of the queue's, as PDO and others write them: "odbc:…",
 * "postgres://user:password@host/app". */
bool mq_server_dsn_is_foreign(struct mq_str text);

/* What may be printed of any text that names a database, and whether it has a password in it: a
 * mistyped one may be taken for the name of a file. Owned; NULL: no memory. */
char *mq_server_dsn_describe(struct mq_str text, bool *password);

/* MQ_CONFIG with field "database" where it is not name=value throughout, or names what PDO's driver
 * would pass over; the text never repeats any of it. */
enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err);
void mq_server_dsn_clear(struct mq_server_dsn *dsn);

#endif
