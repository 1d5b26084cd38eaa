/* DSNs of database servers: whatever the text is, nothing that is printed has the password. */
#include "fuzz.h"

#include <string.h>

#include "db/server_dsn.h"

/* Long enough not to stand in a text by chance. */
static void require_hidden(const char *shown, const char *secret)
{
    REQUIRE(secret == NULL || strlen(secret) < 8 || strstr(shown, secret) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_server_dsn dsn = {0};
    struct mq_error err = {0};
    mq_server_dsn_is_foreign(text);
    if (mq_server_dsn_is(text)) {
        if (mq_server_dsn_parse(text, &dsn, &err) == MQ_OK) {
            REQUIRE(dsn.text != NULL && dsn.shown != NULL);
            REQUIRE(dsn.password == NULL || dsn.has_secret);
            REQUIRE(dsn.connect_timeout_s >= 0);
        } else {
            REQUIRE(err.status == MQ_CONFIG && strcmp(err.field, "database") == 0);
            REQUIRE(dsn.text == NULL && dsn.password == NULL);
        }
        /* A secret that stands in no other part of the text. */
        const char *secret = dsn.password;
        const char *first = secret && strlen(secret) >= 8
                                ? memmem(text.data, text.len, secret, strlen(secret))
                                : NULL;
        size_t rest = first ? (size_t)(text.data + text.len - first) - strlen(secret) : 0;
        if (first && memmem(first + strlen(secret), rest, secret, strlen(secret)) == NULL) {
            require_hidden(dsn.shown, secret);
        }
    }
    mq_server_dsn_clear(&dsn);
    return 0;
}
