/* The n-th request for memory fails, for every n, while addresses are read: a clean error, no
 * partial result, no leak (ASan finds those). */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "envelope_of.h"
#include "failing_malloc.h"
#include "mime/idn.h"
#include "mime/mailbox.h"

#define LIST "Ann <a@b>, \"B, \xC3\xB6\" <c@d>, e@f, g@h, i@j, e@F"
#define LONG                                                                                      \
    "\"A long name, longer than the first block of a buffer is, so that it has to grow while it " \
    "is read\" <a@b>"

static enum mq_status parse_mailboxes(void)
{
    struct mq_mailboxes list = {0};
    enum mq_status status = mq_mailboxes_parse(MQ_STR(LIST ", " LONG), "to", &list, NULL);
    assert_int_equal(list.addresses.count, status == MQ_OK ? 7 : 0);
    assert_int_equal(list.names.count, list.addresses.count);
    mq_mailboxes_clear(&list);
    return status;
}

static enum mq_status read_header(void)
{
    struct mq_strings list = {0};
    enum mq_status status = mq_addresses_of_header(MQ_STR(LIST), "to", &list, NULL);
    assert_int_equal(list.count, status == MQ_OK ? 6 : 0);
    mq_strings_clear(&list);
    return status;
}

static enum mq_status read_envelope(void)
{
    struct mq_envelope envelope = {0};
    enum mq_status status =
        envelope_of(MQ_STR("From: x@y, z@y\nTo: " LIST "\nCc: " LIST "\n\n"), &envelope, NULL);
    assert_int_equal(envelope.recipients.count, status == MQ_OK ? 5 : 0);
    assert_int_equal(envelope.from != NULL, status == MQ_OK);
    mq_envelope_clear(&envelope);
    return status;
}

static enum mq_status convert(void)
{
    char *out = NULL;
    struct mq_str address =
        mq_idn_available() ? MQ_STR("a@m\xC3\xBCller.example") : MQ_STR("a@example.org");
    enum mq_status status = mq_idn_address(address, "to", &out, NULL);
    assert_int_equal(out != NULL, status == MQ_OK);
    free(out);
    return status;
}

static void test_every_request(void **state)
{
    static enum mq_status (*const works[])(void) = {parse_mailboxes, read_header, read_envelope,
                                                    convert};
    (void)state;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        int n = 0;
        enum mq_status status = MQ_NOMEM;
        while (status == MQ_NOMEM) {
            left = n++;
            status = works[i]();
        }
        left = -1;
        assert_int_equal(status, MQ_OK);
        assert_true(n > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_request)};
    return cmocka_run_group_tests_name("mailbox_nomem", tests, NULL, NULL);
}
