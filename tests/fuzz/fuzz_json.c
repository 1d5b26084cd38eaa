/* The JSON in the queue's columns: text that was written is read back, and values that were read
 * are written. */
#include "fuzz.h"

#include <string.h>

#include "core/json.h"

/* Any bytes become one JSON string; UTF-8 without NUL is read back unchanged. */
static void try_string(struct mq_str text)
{
    struct mq_strings list = {0};
    struct mq_buffer json = {0};
    mq_buffer_char(&json, '[');
    mq_json_string(&json, text);
    mq_buffer_char(&json, ']');
    REQUIRE(mq_utf8_valid(mq_buffer_view(&json)));
    for (size_t i = 0; i < json.len; i++) {
        REQUIRE((unsigned char)json.data[i] >= 32);
    }
    bool has_nul = text.len > 0 && memchr(text.data, '\0', text.len) != NULL;
    if (mq_json_read(mq_buffer_view(&json), '[', &list) != MQ_OK) {
        REQUIRE(has_nul);
    } else if (mq_utf8_valid(text) && !has_nul) {
        REQUIRE(list.count == 1 && mq_str_equal(mq_str_of(list.items[0]), text));
    }
    mq_strings_clear(&list);
    mq_buffer_clear(&json);
}

static void try_array(struct mq_str text)
{
    struct mq_strings list = {0};
    struct mq_strings again = {0};
    struct mq_buffer json = {0};
    enum mq_status status = mq_json_read(text, '[', &list);
    if (status != MQ_OK) {
        REQUIRE(status == MQ_INVALID && list.count == 0);
    } else {
        mq_json_strings(&json, &list);
        REQUIRE(mq_json_read(mq_buffer_view(&json), '[', &again) == MQ_OK);
        REQUIRE(again.count == list.count);
        for (size_t i = 0; i < list.count; i++) {
            REQUIRE(strcmp(again.items[i], list.items[i]) == 0);
        }
    }
    mq_strings_clear(&list);
    mq_strings_clear(&again);
    mq_buffer_clear(&json);
}

static void try_object(struct mq_str text)
{
    struct mq_strings pairs = {0};
    enum mq_status status = mq_json_read(text, '{', &pairs);
    if (status == MQ_OK) {
        REQUIRE(pairs.count % 2 == 0);
    } else {
        REQUIRE(status == MQ_INVALID && pairs.count == 0);
    }
    mq_strings_clear(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    try_string(text);
    try_array(text);
    try_object(text);
    return 0;
}
