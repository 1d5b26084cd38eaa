/* DKIM: the examples of RFC 6376 and RFC 8463, and which fields are signed. tests/dkim shows that
 * the signatures verify. */
#include "dkim_fixture.h"

#include "mime/dkim/canonical.h"
#include "mime/dkim/dkim_key.h"
#include "mime/wire/message.h"

/* The tag's value, without white space; static. */
static const char *tag(const char *field, const char *name)
{
    static char value[4096];
    char wanted[16];
    size_t n = 0;
    snprintf(wanted, sizeof wanted, " %s=", name);
    const char *at = strstr(field, wanted);
    assert_non_null(at);
    for (at += strlen(wanted); *at && *at != ';'; at++) {
        if (!strchr(" \r\n", *at)) {
            value[n++] = *at;
        }
    }
    value[n] = '\0';
    return value;
}

/* ---- canonical forms ---- */

static void assert_relaxed(const char *field, const char *expected)
{
    const char *colon = strchr(field, ':');
    mq_buffer_reset(&out);
    mq_dkim_relax_header(&out, (struct mq_str){field, (size_t)(colon - field)},
                         mq_str_of(colon + 1));
    assert_string_equal(out.data, expected);
}

/* RFC 6376, 3.4.5; no message has a blank before the colon. */
static void test_relaxed_header(void **state)
{
    (void)state;
    assert_relaxed("A: X\r\n", "a:X\r\n");
    assert_relaxed("B: Y\t\r\n\tZ  \r\n", "b:Y Z\r\n");
    assert_relaxed("SUBJect:\r\n \r\n\t x\t \ty: z \r\n \r\n", "subject:x y: z\r\n");
    assert_relaxed("X-Empty:\r\n", "x-empty:\r\n");
    assert_relaxed("X-Empty: \t\r\n \r\n", "x-empty:\r\n");
    assert_relaxed("N: \xc3\xbc  \xc3\x9c\r\n", "n:\xc3\xbc \xc3\x9c\r\n");
}

static void collect(void *context, const void *data, size_t len)
{
    mq_buffer_append(context, data, len);
}

static void assert_body(const char *body, const char *expected)
{
    char *copy = mq_str_dup(mq_str_of(body)); /* its own size, for the sanitizer */
    mq_buffer_reset(&out);
    mq_buffer_cstr(&out, "");
    mq_dkim_relax_body((struct mq_str){copy, strlen(copy)}, collect, &out);
    assert_string_equal(out.data, expected);
    free(copy);
}

static void test_relaxed_body(void **state)
{
    (void)state;
    assert_body(" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n");
    assert_body("", "");
    assert_body("\r\n", "");
    assert_body(" \t\r\n\r\n\t\r\n", "");
    assert_body("x", "x\r\n");
    assert_body("x ", "x\r\n");
    assert_body("\r\n\r\nx\r\n \r\ny\r\n", "\r\n\r\nx\r\n\r\ny\r\n");
    assert_body("x\r\n ", "x\r\n");
    assert_body("\tx\t\ty", " x y\r\n");
    assert_body("a b \r\n\tc\t\r\n  \r\n d  e\r\n", "a b\r\n c\r\n\r\n d e\r\n");
}

static void assert_hash(const char *body, const char *expected)
{
    mq_buffer_reset(&out);
    assert_int_equal(mq_dkim_hash_body(mq_str_of(body), &out, &err), MQ_OK);
    assert_string_equal(out.data, expected);
}

static void test_body_hash(void **state)
{
    (void)state;
    assert_hash("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="); /* RFC 6376, 3.4.4 */
    assert_hash("\r\n\r\n", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

/* ---- RFC 8463, A.3 ---- */

static const char game[] = "From: Joe SixPack <joe@football.example.com>\r\n"
                           "To: Suzie Q <suzie@shopping.example.net>\r\n"
                           "Subject: Is dinner ready?\r\n"
                           "Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\n"
                           "Message-ID: <20030712040037.46341.5F8J@football.example.com>\r\n"
                           "\r\n"
                           "Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n";

#define GAME_HASH "2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8="

/* Signs what the example's signatures were made over; both algorithms are deterministic. */
static void assert_vector(const char *file, const char *own_field, const char *expected)
{
    struct mq_message_fields fields = {.rest = mq_str_of(game), .end = '\n'};
    struct evp_pkey_st *key = NULL;
    struct mq_buffer text;
    struct mq_str body;
    text = (struct mq_buffer){0};
    while (mq_message_fields_next(&fields)) {
        mq_dkim_relax_header(&text, fields.name, fields.value);
    }
    mq_dkim_relax_header(&text, MQ_STR("DKIM-Signature"),
                         mq_str_of(own_field + sizeof "DKIM-Signature:" - 1));
    text.len -= 2;
    assert_int_equal(mq_dkim_key_open(file, &key, &err), MQ_OK);
    mq_buffer_reset(&out);
    assert_int_equal(mq_dkim_key_sign(key, mq_buffer_view(&text), &out, &err), MQ_OK);
    assert_string_equal(out.data, expected);
    mq_dkim_key_free(key);
    mq_buffer_clear(&text);
    mq_message_head(mq_str_of(game), &body);
    assert_hash(body.data, GAME_HASH);
}

static void test_vectors(void **state)
{
    (void)state;
    assert_vector(
        ed25519_file,
        "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;\r\n"
        " d=football.example.com; i=@football.example.com;\r\n"
        " q=dns/txt; s=brisbane; t=1528637909; h=from : to :\r\n"
        " subject : date : message-id : from : subject : date;\r\n"
        " bh=" GAME_HASH ";\r\n b=\r\n",
        "/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==");
    assert_vector(rsa_file,
                  "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n"
                  " d=football.example.com; i=@football.example.com;\r\n"
                  " q=dns/txt; s=test; t=1528637909; h=from : to : subject :\r\n"
                  " date : message-id : from : subject : date;\r\n"
                  " bh=" GAME_HASH ";\r\n b=\r\n",
                  "F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3"
                  "DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz"
                  "dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=");
}

/* ---- the field ---- */

static void test_field(void **state)
{
    (void)state;
    add("football.example.com:brisbane-ed25519");
    const char *field = signature_of(game);
    assert_int_equal(
        strncmp(field, "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;", 57), 0);
    assert_string_equal(tag(field, "d"), "football.example.com");
    assert_string_equal(tag(field, "s"), "brisbane-ed25519");
    assert_string_equal(tag(field, "t"), "1528637909");
    assert_string_equal(tag(field, "bh"), GAME_HASH);
    assert_string_equal(tag(field, "h"),
                        "From:From:To:To:Cc:Subject:Subject:Date:Date:Message-ID:Message-ID:"
                        "Reply-To:MIME-Version:Content-Type:Content-Transfer-Encoding");
    assert_int_equal(strlen(tag(field, "b")), 88);
    char *first = strdup(field);
    assert_string_equal(signature_of(game), first);
    free(first);
}

/* Two keys give two fields; the other domain's key gives none. */
static void test_keys_of_a_domain(void **state)
{
    (void)state;
    add("example.net:other");
    add("football.example.com:brisbane-ed25519");
    add("football.example.com:test");
    char *both = strdup(signature_of(game));
    assert_int_equal(count(both, "DKIM-Signature: "), 2);
    assert_non_null(strstr(both, "a=ed25519-sha256"));
    mq_dkim_free(dkim);
    assert_int_equal(mq_dkim_new(&dkim, NULL, &err), MQ_OK);
    add("football.example.com:test");
    assert_string_equal(strstr(both + 1, "DKIM-Signature: "), signature_of(game));
    free(both);
}

static void assert_lines(const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\r");
        assert_true(len > 0 && len <= 78);
        assert_int_equal(strncmp(text + len, "\r\n", 2), 0);
        text += len + 2;
        assert_true(*text == ' ' || !*text || strncmp(text, "DKIM-", 5) == 0);
    }
}

static void test_lines(void **state)
{
    char domain[200] = "";
    char message[300];
    (void)state;
    for (size_t n = 1; n < 60; n++) {
        memset(domain, 'd', n);
        strcpy(domain + n, ".example");
        char list[300];
        snprintf(list, sizeof list, "%s:s", domain);
        add(list);
        snprintf(message, sizeof message, "From: a@%s\r\nReferences: x\r\n\r\n", domain);
        const char *field = signature_of(message);
        assert_string_equal(tag(field, "d"), domain);
        assert_lines(field);
    }
}

static const char *names_of(const char *prefix, const char *message)
{
    if (sign(prefix, message) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    return tag(out.data + 1, "h");
}

static void test_selection(void **state)
{
    (void)state;
    add("example.org:s");
    /* Signs each field that is present, and its absence once more; never fields that change on the
     * way. */
    assert_string_equal(names_of("X-Original-To: x\r\n",
                                 "Received: x\r\nReturn-Path: <x>\r\nBcc: x\r\n"
                                 "DKIM-Signature: v=1\r\nTO: b\r\nfrom: a@example.org\r\n"
                                 "Subject: x\r\n y\r\nTo: c\r\nX-Mine: x\r\n\r\nCc: x\r\n"),
                        "From:From:To:To:To:Cc:Subject:Subject:Date:Message-ID:Reply-To:"
                        "MIME-Version:Content-Type:Content-Transfer-Encoding");
    assert_int_equal(count(names_of("", "From: a@example.org\r\nSender: b\r\n\r\n"), "Sender"), 2);
    /* Mailing lists add these fields where they are missing. */
    assert_string_equal(
        names_of("", "From: a@example.org\r\nReferences: x\r\nIn-Reply-To: x\r\n"
                     "List-Id: x\r\nList-Unsubscribe: x\r\nResent-To: x\r\n"
                     "List-Unsubscribe-Post: x\r\nResent-To: y\r\n\r\n"),
        "From:From:To:Cc:Subject:Date:Message-ID:Reply-To:MIME-Version:Content-Type:"
        "Content-Transfer-Encoding:In-Reply-To:In-Reply-To:References:"
        "References:List-Unsubscribe:List-Unsubscribe:List-Unsubscribe-Post:"
        "List-Unsubscribe-Post:List-Id:Resent-To:Resent-To");
    /* Lines that the worker adds count, too. */
    assert_int_equal(
        count(names_of("Reply-To: x\r\n y\r\n", "From: a@example.org\r\n\r\n"), "Reply-To"), 2);
}

/* Of several fields with one name, signs from the bottom up, those of the prefix last. */
static void test_order(void **state)
{
    struct mq_buffer names;
    (void)state;
    names = (struct mq_buffer){0};
    mq_dkim_select(MQ_STR("To: 1\r\nX: x\r\n"), MQ_STR("To: 2\r\n\t2\r\nTo: 3\r\n\r\nTo: 4\r\n"),
                   &out, &names);
    assert_string_equal(out.data, "to:3\r\nto:2 2\r\nto:1\r\n");
    mq_buffer_clear(&names);
}

/* ---- whose mail it is ---- */

static const char *domain_of(const char *from)
{
    char message[256];
    snprintf(message, sizeof message, "Subject: x\r\nFrom: %s\r\n\r\n", from);
    const char *field = signature_of(message);
    return *field ? tag(field, "d") : "";
}

static void test_domain(void **state)
{
    (void)state;
    add("Example.ORG:s");
    add("mail.example.org:s");
    add("xn--mller-kva.example:s");
    assert_string_equal(domain_of("a@example.org"), "example.org");
    assert_string_equal(domain_of("A <a@EXAMPLE.org>"), "example.org");
    assert_string_equal(domain_of("a@mail.example.org"), "mail.example.org");
    assert_string_equal(domain_of("a@www.mail.example.org"), "mail.example.org");
    assert_string_equal(domain_of("a@www.example.org"), "example.org");
    assert_string_equal(domain_of("a@org"), "");
    assert_string_equal(domain_of("a@badexample.org"), "");
    assert_string_equal(domain_of("a@example.org.evil.example"), "");
    assert_string_equal(domain_of("\"b@mail.example.org\" <a@example.org>"), "example.org");
    assert_string_equal(domain_of("(b@mail.example.org)\r\n a@example.org"), "example.org");
    assert_string_equal(domain_of("a@example.org, b@mail.example.org"), "example.org");
    assert_string_equal(domain_of("a@xn--mller-kva.example"), "xn--mller-kva.example");
    assert_string_equal(domain_of("nobody:;"), "");
    assert_string_equal(signature_of("Subject: x\r\n\r\nFrom: a@example.org\r\n"), "");
    /* The first From decides, though all of them are signed. */
    assert_string_equal(domain_of("a@mail.example.org\r\nFrom: b@example.org"), "mail.example.org");
}

/* With an unreadable From, the last domain in it decides. It never means an unsigned mail, unless
 * it is of another domain. */
static void test_unreadable_from(void **state)
{
    (void)state;
    add("example.org:s");
    assert_string_equal(domain_of("a..b@example.net"), "");
    assert_string_equal(domain_of("a..b@Example.org"), "example.org");
    assert_string_equal(domain_of("Meier, Hans <hans@mail.example.org>"), "example.org");
    assert_int_equal(sign("", "From: a..b@Example.org, b@example.net\r\n\r\n"), MQ_MESSAGE);
    assert_string_equal(err.field, "from");
    assert_string_equal(out.data, "<");
}

int main(void)
{
    if (!mq_dkim_available()) {
        const struct CMUnitTest without[] = {
            cmocka_unit_test_setup_teardown(test_relaxed_header, setup, teardown),
            cmocka_unit_test_setup_teardown(test_relaxed_body, setup, teardown),
            cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        };
        return cmocka_run_group_tests(without, group_setup, group_teardown);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_relaxed_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_relaxed_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_body_hash, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vectors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_of_a_domain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection, setup, teardown),
        cmocka_unit_test_setup_teardown(test_domain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unreadable_from, setup, teardown),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
