/* DKIM keys: their files and permissions, lists of keys, and failing memory. */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "dkim_fixture.h"
#include "failing_malloc.h"

/* ---- failing memory ---- */

static const char short_key[] = "-----BEGIN PRIVATE KEY-----\n"
                                "MIIBUwIBADANBgkqhkiG9w0BAQEFAASCAT0wggE5AgEAAkEAzzpYJInpndxYuf8A\n"
                                "yXG+uSIPZi61KFHh/jRcxqPGUURgjBlLYQ4nbVjOZPeK0MR+fRzL+GPnK8ai8EML\n"
                                "MlCTTQIDAQABAkBIo/4TyNhAguYDRPVEp/+gK+VT/1l3acSbdEV1SCGTiI/naMHL\n"
                                "3DidIw4jd8gcgbrKqPNNK0c3crc6xTJl533tAiEA79Q9bUIPbdq37gYsP1vYPJm7\n"
                                "SmKsKXbV0+Lm42cpbo8CIQDdM13BEv5GHF2wafX3zJRdeadxfgUpcgNxwNUsElEO\n"
                                "YwIgQgcBvmHQk6MCvnJOnkbv+ocsjCcsVOIVrpcqj/Ln8jsCIAL8r5Zs4DwoI+e+\n"
                                "9pBbFeHRQ76XmhA+NuexV++Za7jLAiAu4bzQsJDr8UvPRXcaPXD+hAMb141OzRXo\n"
                                "oM4cPY0LOg==\n"
                                "-----END PRIVATE KEY-----\n";

static const char ec_key[] = "-----BEGIN EC PRIVATE KEY-----\n"
                             "MHcCAQEEICSRV/L4WQZcul7CnObddOYxbJ/ovxrJZ/9iwX4QWHjUoAoGCCqGSM49\n"
                             "AwEHoUQDQgAEUNQVeMnFlkmzoIH5UXpty0qyPrHnhacQeiWEmHSCxG3KRi/hx5Ax\n"
                             "38Rvdjn74VBRlS11rF+QndcoJFGxNWxcOA==\n"
                             "-----END EC PRIVATE KEY-----\n";

static const char locked_key[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAikwA5Esdjq2AICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEOhzPJUpiRLXJmfoSgHbQ1YEQA+C\n"
    "S6tOZJhmGKk28fP7DuJSCqmLI0vzSkya9PSdGrRn4sUsdiANiEJRSpt5g/l0TqNt\n"
    "2HWQpICgU5kewWOQQzE=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

/* ---- key files ---- */

static void assert_bad_file(const char *text, mode_t mode, const char *why)
{
    write_file(other_file, text, mode);
    assert_int_equal(mq_dkim_add(dkim, "example.org", "s", other_file, &err), MQ_CONFIG);
    assert_string_equal(err.field, "dkim");
    if (!strstr(err.text, other_file) || !strstr(err.text, why)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
    }
    assert_null(strstr(err.text, "BEGIN"));
    unlink(other_file);
    assert_string_equal(signature_of("From: a@example.org\r\n\r\n"), "");
}

static void test_rights(void **state)
{
    (void)state;
    assert_bad_file(rsa_key, 0644, "chmod it to 0600");
    assert_bad_file(rsa_key, 0604, "read by all");
    assert_bad_file(rsa_key, 0620, "written by others");
    assert_bad_file(rsa_key, 0602, "written by others");
    assert_int_equal(mq_dkim_add(dkim, "example.org", "s", directory, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(mq_dkim_add(dkim, "example.org", "s", "/nonexistent", &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "/nonexistent cannot be opened: No such file"));
    assert_int_equal(mkfifo(other_file, 0600), 0); /* must not wait for a writer */
    assert_int_equal(mq_dkim_add(dkim, "example.org", "s", other_file, &err), MQ_CONFIG);
    unlink(other_file);
    if (geteuid() == 0) {
        write_file(other_file, rsa_key, 0600);
        assert_int_equal(chown(other_file, 65534, 65534), 0);
        assert_int_equal(mq_dkim_add(dkim, "example.org", "s", other_file, &err), MQ_CONFIG);
        assert_non_null(strstr(err.text, "belongs to another user"));
        unlink(other_file);
    }
}

static void test_bad_keys(void **state)
{
    static char long_text[70000];
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    assert_bad_file("", 0600, "no private key");
    assert_bad_file("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0600,
                    "no private key");
    assert_bad_file(long_text, 0600, "too long");
    assert_bad_file(short_key, 0600, "1,024 bits");
    assert_bad_file(ec_key, 0600, "RSA or Ed25519");
    assert_bad_file(locked_key, 0600, "needs a passphrase");
}

static void assert_bad_list(const char *text, const char *why)
{
    assert_int_equal(mq_dkim_add_list(dkim, mq_str_of(text), &err), MQ_CONFIG);
    if (!strstr(err.text, why)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
    }
}

static void test_lists(void **state)
{
    char text[256];
    (void)state;
    assert_int_equal(mq_dkim_add_list(dkim, MQ_STR(" ,\t"), &err), MQ_OK);
    snprintf(text, sizeof text, " example.org:a:%s, example.org:b:%s\tsub.example.net:a:%s,",
             rsa_file, ed25519_file, rsa_file);
    assert_int_equal(mq_dkim_add_list(dkim, mq_str_of(text), &err), MQ_OK);
    assert_int_equal(count(signature_of("From: a@example.org\r\n\r\n"), "DKIM-Signature"), 2);
    assert_bad_list("example.org", "domain:selector:/path");
    assert_bad_list("example.org:s", "domain:selector:/path");
    assert_bad_list("example.org:s:", "domain:selector:/path");
    assert_bad_list(":s:/key", "\"\" is not a domain");
    assert_bad_list("a..b:s:/key", "\"a..b\" is not a domain");
    assert_bad_list("-a.b:s:/key", "is not a domain");
    assert_bad_list("a-.b:s:/key", "is not a domain");
    assert_bad_list("a.b-:s:/key", "is not a domain");
    assert_bad_list("a.b.:s:/key", "is not a domain");
    assert_bad_list("m\xc3\xbcller.example:s:/key", "A-labels");
    assert_bad_list("a.b::/key", "\"\" is not a selector");
    assert_bad_list("a.b:x;y=z:/key", "is not a selector");
    assert_bad_list("EXAMPLE.org:A:/key", "twice");
    memset(text, 'x', 64);
    strcpy(text + 64, ".example:s:/key");
    assert_bad_list(text, "is not a domain");
}

/* ---- memory ---- */

/* For every request that can fail: a clean error, nothing appended, no leak. */
static void test_without_memory(void **state)
{
    enum mq_status status = MQ_NOMEM;
    int n = 0;
    (void)state;
    add("example.com:ed25519");
    for (; status == MQ_NOMEM; n++) {
        mq_buffer_clear(&out);
        mq_buffer_cstr(&out, "<");
        struct mq_dkim_mail mail = {MQ_STR("X: y\r\n"), MQ_STR("From: a@example.com\r\n\r\nx"), 1};
        left = n;
        status = mq_dkim_sign(dkim, &mail, &out, &err);
        left = -1;
        if (status != MQ_OK) {
            assert_string_equal(out.data, "<");
        }
    }
    assert_int_equal(status, MQ_OK);
    assert_true(n > 8);
    for (n = 0, status = MQ_NOMEM; status == MQ_NOMEM; n++) {
        left = n;
        status = mq_dkim_add(dkim, "example.org", "s", ed25519_file, &err);
        left = -1;
    }
    assert_int_equal(status, MQ_OK);
    assert_non_null(strstr(signature_of("From: a@example.org\r\n\r\n"), " d=example.org;"));
}

static void test_unavailable(void **state)
{
    (void)state;
    assert_false(mq_dkim_available());
    assert_int_equal(mq_dkim_add(dkim, "example.org", "s", rsa_file, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, "libssl-dev"));
    assert_string_equal(signature_of("From: a@example.org\r\n\r\n"), "");
}

int main(void)
{
    if (!mq_dkim_available()) {
        const struct CMUnitTest without[] = {
            cmocka_unit_test_setup_teardown(test_unavailable, setup, teardown),
        };
        return cmocka_run_group_tests(without, group_setup, group_teardown);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rights, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
