/* The argument that names a database, wherever one is taken. */
#include "php/class/database_arg.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "db/server_dsn.h"
#include "php/class/exceptions.h"
#include "php/pdo/server.h"

#define ARG_DATABASE 1

static void throw_unsupported(void)
{
    struct mq_error err;
    mq_error_set(&err, MQ_CONFIG, "database",
                 "$database: there is no such kind of database: give the path of an SQLite file, "
                 "\"sqlite:\" and the path, \"pgsql:host=db;dbname=app\" (PostgreSQL) or "
                 "\"mysql:host=db;dbname=app\" (MySQL, MariaDB)");
    mq_php_throw(&err);
}

/* Links are not resolved: the driver watches where they lead. */
static zend_string *absolute_path(const char *path)
{
    char directory[MAXPATHLEN];
    zend_string *result;
    if (IS_ABSOLUTE_PATH(path, strlen(path))) {
        result = zend_string_init(path, strlen(path), 0);
    } else if (VCWD_GETCWD(directory, sizeof directory)) {
        result = zend_strpprintf(0, "%s/%s", directory, path);
    } else {
        zend_argument_value_error(ARG_DATABASE,
                                  "is a relative path, and the working directory is gone: give "
                                  "an absolute path");
        return NULL;
    }
    if (ZSTR_LEN(result) >= MAXPATHLEN) {
        zend_string_release(result);
        zend_argument_value_error(ARG_DATABASE, "is too long for a path: use a shorter one");
        return NULL;
    }
    return result;
}

static bool is_foreign(const zend_string *database)
{
    return mq_server_dsn_is_foreign((struct mq_str){ZSTR_VAL(database), ZSTR_LEN(database)});
}

const char *mq_php_database_file(const zend_string *database)
{
    const char *path = ZSTR_VAL(database);
    if (mq_php_dsn_is(database) || is_foreign(database)) {
        return NULL;
    }
    path += strncasecmp(path, "sqlite:", strlen("sqlite:")) == 0 ? strlen("sqlite:") : 0;
    bool is_file = *path && strcmp(path, ":memory:") != 0 && strncmp(path, "file:", 5) != 0;
    return is_file ? path : NULL;
}

zend_string *mq_php_database_path(const zend_string *database)
{
    const char *path = mq_php_database_file(database);
    if (!mq_php_check_text(ARG_DATABASE, database)) {
        return NULL;
    }
    if (is_foreign(database)) {
        throw_unsupported();
        return NULL;
    }
    if (path && isspace((unsigned char)*path)) {
        zend_argument_value_error(
            ARG_DATABASE, "must not begin with white space: remove it, or put ./ before the "
                          "name of a file that begins so");
        return NULL;
    }
    if (!path) {
        zend_argument_value_error(ARG_DATABASE,
                                  "must be the path of an SQLite file, which other processes can "
                                  "open too: an empty path, \":memory:\" and URIs cannot be used");
        return NULL;
    }
    return absolute_path(path);
}
