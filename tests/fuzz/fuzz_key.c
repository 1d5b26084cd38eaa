/* DKIM key files: any file gives a key that signs, or an error. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mime/dkim/dkim_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct evp_pkey_st *key = NULL;
    struct mq_buffer out = {0};
    struct mq_error err = {0};
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "/tmp/mailqueue-fuzz-key-%d", (int)getpid());
    }
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL && fchmod(fileno(file), 0600) == 0);
    REQUIRE(size == 0 || fwrite(data, size, 1, file) == 1);
    fclose(file);
    if (mq_dkim_key_open(path, &key, &err) == MQ_OK) {
        REQUIRE(mq_dkim_key_algorithm(key) != NULL);
        if (mq_dkim_key_sign(key, MQ_STR("text"), &out, &err) == MQ_OK) {
            REQUIRE(out.len > 0 && mq_str_ascii(mq_buffer_view(&out)));
        }
    } else {
        REQUIRE(key == NULL && err.status != MQ_OK && err.text[0] != '\0');
    }
    mq_dkim_key_free(key);
    mq_buffer_clear(&out);
    unlink(path);
    return 0;
}
