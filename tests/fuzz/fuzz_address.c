/* Addresses: all parsers accept the same ones and read them alike, and nothing else gets out. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "mime/address.h"
#include "mime/header.h"
#include "mime/idn.h"
#include "mime/mailbox.h"

/* Every parser must accept an address, wherever it may stand. */
static void require_everywhere(struct mq_str address)
{
    struct mq_mailboxes list = {0};
    struct mq_strings plain = {0};
    char *converted = NULL;
    REQUIRE(mq_idn_address(address, "to", &converted, NULL) == MQ_OK);
    fuzz_require_address(converted);
    REQUIRE(mq_mailboxes_parse(address, "to", &list, NULL) == MQ_OK);
    REQUIRE(list.addresses.count == 1 && list.names.items[0][0] == '\0');
    REQUIRE(strcmp(list.addresses.items[0], converted) == 0);
    REQUIRE(mq_addresses_of_header(address, "To", &plain, NULL) == MQ_OK);
    REQUIRE(plain.count == 1 && strcmp(plain.items[0], converted) == 0);
    free(converted);
    mq_mailboxes_clear(&list);
    mq_strings_clear(&plain);
}

static void try_address(struct mq_str text)
{
    struct mq_error err;
    char *converted = NULL;
    if (mq_address_check(text, "to", &err) == MQ_OK) {
        require_everywhere(text);
    } else {
        REQUIRE(err.status == MQ_MESSAGE && mq_utf8_valid(mq_str_of(err.text)));
    }
    if (mq_idn_address(text, "to", &converted, &err) == MQ_OK) {
        size_t local = strcspn(converted, "@");
        fuzz_require_address(converted);
        REQUIRE(local < text.len && memcmp(converted, text.data, local + 1) == 0);
        require_everywhere(mq_str_of(converted));
        free(converted);
    } else {
        REQUIRE(err.status == MQ_MESSAGE && mq_utf8_valid(mq_str_of(err.text)));
    }
}

/* Writes the list as a careful program would. */
static void write_list(const struct mq_mailboxes *list, struct mq_buffer *out)
{
    for (size_t i = 0; i < list->addresses.count; i++) {
        mq_buffer_cstr(out, i > 0 ? ", \"" : "\"");
        for (const char *c = list->names.items[i]; *c != '\0'; c++) {
            if (*c == '"' || *c == '\\') {
                mq_buffer_char(out, '\\');
            }
            mq_buffer_char(out, *c);
        }
        mq_buffer_printf(out, "\" <%s>", list->addresses.items[i]);
    }
}

static void require_same(const struct mq_strings *a, const struct mq_strings *b)
{
    REQUIRE(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        REQUIRE(strcmp(a->items[i], b->items[i]) == 0);
    }
}

/* A parsed list, written again, parses to the same list. */
static void require_round_trip(const struct mq_mailboxes *list)
{
    struct mq_mailboxes again = {0};
    struct mq_strings plain = {0};
    struct mq_buffer text = {0};
    write_list(list, &text);
    REQUIRE(mq_mailboxes_parse(mq_buffer_view(&text), "to", &again, NULL) == MQ_OK);
    require_same(&list->addresses, &again.addresses);
    require_same(&list->names, &again.names);
    REQUIRE(mq_addresses_of_header(mq_buffer_view(&text), "To", &plain, NULL) == MQ_OK);
    require_same(&list->addresses, &plain);
    mq_mailboxes_clear(&again);
    mq_strings_clear(&plain);
    mq_buffer_clear(&text);
}

/* The header reader gives the same list once pasted separators are spaces. As they are, it gives
 * the same list or an error, because a header does not take them for blanks. */
static void require_same_in_header(struct mq_str text, const struct mq_mailboxes *list)
{
    struct mq_strings plain = {0};
    struct mq_strings raw = {0};
    struct mq_buffer spaced = {0};
    if (mq_addresses_of_header(text, "To", &raw, NULL) == MQ_OK) {
        require_same(&list->addresses, &raw);
    }
    REQUIRE(mq_header_text(&text, "To", &spaced, NULL) == MQ_OK);
    REQUIRE(mq_addresses_of_header(text, "To", &plain, NULL) == MQ_OK);
    require_same(&list->addresses, &plain);
    mq_buffer_clear(&spaced);
    mq_strings_clear(&plain);
    mq_strings_clear(&raw);
}

static void try_mailboxes(struct mq_str text)
{
    struct mq_mailboxes list = {0};
    struct mq_error err;
    if (mq_mailboxes_parse(text, "to", &list, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_MESSAGE && list.addresses.count == 0 && list.names.count == 0);
        REQUIRE(mq_utf8_valid(mq_str_of(err.text)));
        mq_mailboxes_clear(&list);
        return;
    }
    REQUIRE(list.addresses.count > 0 && list.names.count == list.addresses.count);
    for (size_t i = 0; i < list.addresses.count; i++) {
        struct mq_str name = mq_str_of(list.names.items[i]);
        fuzz_require_address(list.addresses.items[i]);
        REQUIRE(mq_utf8_valid(name) && strpbrk(name.len ? name.data : "", "\r\n\t\x7f") == NULL);
    }
    require_round_trip(&list);
    if (!fuzz_contains(text, "=?")) { /* in a header, encoded words must be complete */
        require_same_in_header(text, &list);
    }
    mq_mailboxes_clear(&list);
}

static void try_header(struct mq_str text)
{
    struct mq_strings list = {0};
    struct mq_strings again = {0};
    struct mq_buffer joined = {0};
    struct mq_error err;
    if (mq_addresses_of_header(text, "To", &list, &err) != MQ_OK) {
        REQUIRE(err.status == MQ_MESSAGE && list.count == 0);
        REQUIRE(mq_utf8_valid(mq_str_of(err.text)));
        mq_strings_clear(&list);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        fuzz_require_address(list.items[i]);
        /* The space keeps a text that begins with "=?" from forming one encoded word with
         * others. */
        mq_buffer_printf(&joined, "%s%s", i > 0 ? ", " : "", list.items[i]);
    }
    REQUIRE(mq_addresses_of_header(mq_buffer_view(&joined), "To", &again, NULL) == MQ_OK);
    REQUIRE(again.count == list.count);
    mq_buffer_clear(&joined);
    mq_strings_clear(&again);
    mq_strings_clear(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    try_address(text);
    try_mailboxes(text);
    try_header(text);
    return 0;
}
