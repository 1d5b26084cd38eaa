/* DSNs of servers: what is recognised, what may be shown, and where the credentials come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "db/server_dsn.h"

static struct mq_server_dsn dsn;
static struct mq_error err;

static void parse(const char *text)
{
    free(dsn.shown);
    if (mq_server_dsn_parse(mq_str_of(text), &dsn, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

static void refuse(const char *text, const char *why)
{
    free(dsn.shown);
    dsn.shown = NULL;
    assert_int_equal(mq_server_dsn_parse(mq_str_of(text), &dsn, &err), MQ_CONFIG);
    assert_null(dsn.shown);
    if (!strstr(err.text, why) || strstr(err.text, "s3cr")) {
        fail_msg("%s: %s", text, err.text);
    }
}

static void test_prefixes(void **state)
{
    (void)state;
    assert_true(mq_server_dsn_is(MQ_STR("pgsql:")));
    assert_true(mq_server_dsn_is(MQ_STR("MySQL:host=x")));
    assert_false(mq_server_dsn_is(MQ_STR("pgsql")));
    assert_false(mq_server_dsn_is(MQ_STR("sqlite:/x")));
    assert_false(mq_server_dsn_is(MQ_STR("/home/pgsql:x")));
    assert_false(mq_server_dsn_is(MQ_STR("postgresql://x")));
}

static void shows(const char *text, const char *shown, bool secret)
{
    parse(text);
    assert_string_equal(dsn.shown, shown);
    if (dsn.has_secret != secret) {
        fail_msg("%s: %d", text, dsn.has_secret);
    }
}

static void test_shown(void **state)
{
    (void)state;
    shows("pgsql:host=db;user=u", "pgsql:host=db", false);
    shows("PGSQL:host='db'password =s3cr;dbname=a", "pgsql:host='db';dbname=a", true);
    shows("pgsql:host=db;password=", "pgsql:host=db", false);
    shows("pgsql:host=db;password=''", "pgsql:host=db", false);
    shows("pgsql:host=db password = 'it\\'s a\\\\b s3cr' port=1", "pgsql:host=db;port=1", true);
    shows("pgsql:password=a\\ s3cr", "pgsql:", true);
    shows("pgsql:host=db;sslpassword=x", "pgsql:host=db", true);
    shows("pgsql:host=db;Password=s3cr", "pgsql:host=db", true);
    shows("pgsql:host=db;passfile=/x", "pgsql:host=db", false);
    shows("pgsql:host=db;oauth_client_id=mq;oauth_client_secret=s3cr", "pgsql:host=db", true);
    shows("pgsql:host=db;oauth_client_id=mq;oauth_client_secret=", "pgsql:host=db", false);
    shows("pgsql:host=db;scram_client_key=s3cr", "pgsql:host=db", true);
    shows("pgsql:host=db;sslkey=/x", "pgsql:host=db", false);
    shows("pgsql:host=db;dbname=postgres://u:s3cr@h/db", "pgsql:host=db", true);
    shows("pgsql:dbname='host=x password=s3cr'", "pgsql:", false);
    shows("mysql:host=db;password=;;s3cr", "mysql:host=db", true);
    shows("mysql:host=db;unix_socket=/a;;b;password=s;;;;3cr;port=3",
          "mysql:host=db;unix_socket=/a;;b;port=3", true);
}

static void test_foreign(void **state)
{
    (void)state;
    assert_true(mq_server_dsn_is_foreign(MQ_STR("redis://h")));
    assert_true(mq_server_dsn_is_foreign(MQ_STR("Odbc:DSN=x")));
    assert_false(mq_server_dsn_is_foreign(MQ_STR("sqlite:a://b")));
    assert_false(mq_server_dsn_is_foreign(MQ_STR("dir:name/x.db")));
}

/* Blanks and doubled semicolons between the items, and values that contain them. */
static void test_grammar(void **state)
{
    (void)state;
    parse("PGSQL: host = db  dbname='my app' ;; client_encoding=LATIN1 ");
    assert_false(dsn.mysql);
    assert_string_equal(dsn.shown, "pgsql:host=db;dbname='my app'");
    assert_int_equal(dsn.connect_timeout_s, 0);
    parse("pgsql:");
    assert_string_equal(dsn.shown, "pgsql:");
    parse("pgsql:host=db;connect_timeout='3';options=''");
    assert_int_equal(dsn.connect_timeout_s, 3);
    parse("pgsql:connect_timeout= 20 host=db");
    assert_int_equal(dsn.connect_timeout_s, 20);
    parse("pgsql:host=db;connect_timeout=");
    assert_int_equal(dsn.connect_timeout_s, 0);
    parse("mysql:host=db;port=3307; dbname=my app;user=me;password=s3;;cr=t'");
    assert_true(dsn.mysql);
    assert_string_equal(dsn.shown, "mysql:host=db;port=3307;dbname=my app");
    assert_true(dsn.has_user && dsn.has_password);
}

/* Credentials in the DSN are not looked up elsewhere. */
static void test_credentials(void **state)
{
    (void)state;
    parse("pgsql:user=me");
    assert_true(dsn.has_user && !dsn.has_password);
    parse("pgsql: password = x");
    assert_true(!dsn.has_user && dsn.has_password);
    parse("pgsql:sslpassword=x");
    assert_false(dsn.has_user || dsn.has_password);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("pgsql:host", "not name=value");
    refuse("pgsql:host=db password='s3cr", "not name=value");
    refuse("pgsql:password=x s3cr", "not name=value");
    refuse("pgsql://me:s3cr@db/app", "not name=value");
    refuse("pgsql:postgresql://me:s3cr@db/app?a=b", "not name=value");
    refuse("mysql:host=db;password=x;s3cr", "not name=value");
    refuse("mysql:host=db;s3cr=x", "unix_socket");
    refuse("mysql:chraset=utf8", "charset");
    refuse("pgsql:password='x;s3cr'", "semicolon in it");
    refuse("pgsql:password=x\\;s3cr", "semicolon in it");
    assert_int_equal(mq_server_dsn_parse((struct mq_str){"pgsql:a=\0b", 10}, &dsn, &err),
                     MQ_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),       cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_prefixes),    cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_credentials), cmocka_unit_test(test_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(dsn.shown);
    return failed;
}
