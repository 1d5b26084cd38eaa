/* The name of a window in the table. It has no N, so that a limit that is raised or lowered keeps
 * its count. */
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hash.h"
#include "queue/enqueue.h"
#include "queue/windows/internal.h"

char *mq_window_name(const struct mq_limit *limit, struct mq_str who)
{
    static const char *const words[] = {"", " relay ", " sender ", " domain ", " to "};
    struct mq_buffer name = {0};
    if (limit->slow) { /* its length changes */
        mq_buffer_cstr(&name, "slow ");
    } else {
        mq_buffer_printf(&name, "%lld ", (long long)limit->length_s);
    }
    mq_buffer_printf(&name, "%s%s", limit->mails ? "mails" : "recipients", words[limit->scope]);
    for (size_t i = 0; i < who.len; i++) {
        mq_buffer_char(&name, mq_ascii_lower(who.data[i]));
    }
    if (limit->only.len) {
        mq_buffer_printf(&name, " (%.*s)", (int)limit->only.len, limit->only.data);
    }
    char *text = mq_buffer_take(&name);
    mq_buffer_clear(&name);
    size_t most = MQ_REFERENCE_MAX - 10; /* line.c and the bucket write words before it */
    if (text && strlen(text) > most) {
        uint64_t hash = mq_hash(MQ_HASH_BEGIN, mq_str_of(text));
        size_t cut = mq_utf8_cut(mq_str_of(text), most - 17); /* databases take whole characters */
        snprintf(text + cut, 18, "#%016llx", (unsigned long long)hash);
    }
    return text;
}
