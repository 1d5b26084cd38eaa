/* DSNs of database servers as PDO spells them: "pgsql:host=db;dbname=app", "mysql:host=db;…". PDO
 * parses them; here user and password are taken out, and what may be printed is found. */
#ifndef MQ_DB_SERVER_DSN_H
#define MQ_DB_SERVER_DSN_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* All owned. PDO is given user and password beside the text, so that no message about the text can
 * have them. */
struct mq_server_dsn {
    bool mysql;             /* else PostgreSQL */
    char *text;             /* for PDO, with defaults */
    char *shown;            /* for messages: as given, without user and secrets */
    char *user;             /* NULL: not in the DSN */
    char *password;         /* NULL: not in the DSN */
    bool has_secret;        /* a password, or another secret that `shown` leaves out */
    long connect_timeout_s; /* 0: not in the DSN */
};

/* Whether the prefix is a server's, in any case. */
bool mq_server_dsn_is(struct mq_str text);

/* Whether the text names a kind of database that the queue does not support, as PDO and others
 * write them: "odbc:…", "postgres://user:password@host/app". */
bool mq_server_dsn_is_foreign(struct mq_str text);

/* MQ_CONFIG with the field "database" where the text is not name=value throughout, or names what
 * PDO's driver would ignore. The error repeats nothing of the text. */
enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err);
void mq_server_dsn_clear(struct mq_server_dsn *dsn);

#endif
