/* DSNs of database servers: from any text, nothing that is printed contains the password. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "db/server_dsn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = calloc(size + 1, 1);
    struct mq_str text = {copy, size};
    struct mq_server_dsn dsn = {0};
    struct mq_error err = {0};
    if (copy && size > 0) {
        memcpy(copy, data, size);
    }
    mq_server_dsn_is_foreign(text);
    if (mq_server_dsn_is(text)) {
        if (mq_server_dsn_parse(text, &dsn, &err) == MQ_OK) {
            REQUIRE(dsn.shown != NULL);
        } else {
            REQUIRE(err.status == MQ_CONFIG && strcmp(err.field, "database") == 0);
            REQUIRE(dsn.shown == NULL);
        }
        REQUIRE(dsn.shown == NULL || strstr(dsn.shown, "password=") == NULL);
    }
    free(dsn.shown);
    free(copy);
    return 0;
}
