/* DSNs of database servers as PDO spells them: "pgsql:host=db;dbname=app", "mysql:host=db;…". PDO
 * parses them. These functions find what a DSN contains and which parts can be printed. */
#ifndef MQ_DB_SERVER_DSN_H
#define MQ_DB_SERVER_DSN_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_server_dsn {
    bool mysql;             /* else PostgreSQL */
    char *shown;            /* for messages: without secrets; the caller frees it */
    bool has_user;          /* user= is there, even with an empty value */
    bool has_password;      /* password= is there, even with an empty value */
    bool has_secret;        /* a password (also of a key) that is not empty, or one in a URL */
    long connect_timeout_s; /* PostgreSQL's; 0: not in the DSN */
};

/* Whether the text begins with "pgsql:" or "mysql:", in upper or lower case. */
bool mq_server_dsn_is(struct mq_str text);

/* Whether the text names a kind of database that the queue does not support, as PDO and others
 * write them: "odbc:…", "postgres://user:password@host/app". */
bool mq_server_dsn_is_foreign(struct mq_str text);

/* `text` ends with a NUL. Returns MQ_CONFIG with the field "database" if a part is not name=value,
 * or has a name that PDO's driver would ignore. The error repeats nothing of the text. */
enum mq_status mq_server_dsn_parse(struct mq_str text, struct mq_server_dsn *out,
                                   struct mq_error *err);

#endif
