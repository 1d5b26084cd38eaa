/* Parses lists of mail types. */
#include "policy/types.h"

#include "core/ascii.h"

bool mq_types_parse(struct mq_str text, struct mq_strings *out, bool *but)
{
    *but = mq_str_begins(text, MQ_TYPES_EVERY_BUT);
    if (mq_str_equal(text, mq_str_trim(MQ_STR(MQ_TYPES_EVERY_BUT)))) {
        return false; /* not a type of that name: the list behind it is missing */
    }
    text = mq_str_skip(text, *but ? sizeof(MQ_TYPES_EVERY_BUT) - 1 : 0);
    for (bool more = true; more;) {
        more = mq_str_find(text, ',') < text.len;
        struct mq_str type = mq_str_trim(mq_str_cut_at(&text, ','));
        if (type.len == 0 || type.len > MQ_TYPE_MAX || (out && !mq_strings_add(out, type))) {
            return false;
        }
    }
    return true;
}
