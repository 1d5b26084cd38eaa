/* DSNs of database servers: whatever the text is, nothing that is printed has the password. */
#include "fuzz.h"

#include <string.h>

#include "db/server_dsn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_server_dsn dsn = {0};
    struct mq_error err = {0};
    mq_server_dsn_is_foreign(text);
    if (mq_server_dsn_is(text)) {
        if (mq_server_dsn_parse(text, &dsn, &err) == MQ_OK) {
            REQUIRE(dsn.text != NULL && dsn.shown != NULL);
            REQUIRE(dsn.connect_timeout_s >= 0);
        } else {
            REQUIRE(err.status == MQ_CONFIG && strcmp(err.field, "database") == 0);
            REQUIRE(dsn.text == NULL && dsn.shown == NULL);
        }
        REQUIRE(dsn.shown == NULL || strstr(dsn.shown, "password=") == NULL);
    }
    mq_server_dsn_clear(&dsn);
    return 0;
}
