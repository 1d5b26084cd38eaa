#include "core/error.h"

#include <stdio.h>
#include <string.h>

#include "core/buffer.h"

enum mq_status mq_error_set(struct mq_error *err, enum mq_status status, const char *field,
                            const char *format, ...)
{
    if (err == NULL) {
        return status;
    }
    /* By way of copies: the arguments may be err's own texts, when a cause is added in front. */
    char text[MQ_ERROR_TEXT_MAX + 4];
    char name[MQ_ERROR_FIELD_MAX + 4];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(name, sizeof name, "%s", field ? field : "");

    struct mq_str view = mq_str_of(text);
    if (n >= (int)sizeof text) {
        view.len = mq_utf8_cut(view, view.len > 4 ? view.len - 4 : 0);
    }
    if (n < 0) {
        view = MQ_STR("unknown error");
    }
    err->status = status;
    mq_str_printable(err->text, sizeof err->text, 0, view);
    mq_str_printable(err->field, sizeof err->field, 0, mq_str_of(name));
    return status;
}

enum mq_status mq_error_nomem(struct mq_error *err)
{
    return mq_error_set(err, MQ_NOMEM, "",
                        "out of memory: make the message smaller or raise the memory limit");
}

const char *mq_status_name(enum mq_status status)
{
    switch (status) {
    case MQ_OK:
        return "ok";
    case MQ_NOMEM:
        return "out of memory";
    case MQ_INVALID:
        return "invalid argument";
    case MQ_MESSAGE:
        return "invalid message";
    case MQ_CONFIG:
        return "configuration";
    case MQ_BUSY:
        return "busy";
    case MQ_TX_ABORTED:
        return "undone";
    case MQ_READONLY:
        return "read-only";
    case MQ_CANTOPEN:
        return "cannot open";
    case MQ_FULL:
        return "full";
    case MQ_CORRUPT:
        return "corrupt";
    case MQ_IO:
        return "I/O error";
    case MQ_REPLACED:
        return "replaced";
    case MQ_SCHEMA:
        return "schema";
    case MQ_DUPLICATE:
        return "duplicate";
    case MQ_DATABASE:
        return "database";
    case MQ_TRANSPORT:
        return "transport";
    case MQ_REFUSED:
        return "refused";
    case MQ_THROWN:
        return "thrown";
    case MQ_BAILOUT:
        return "bailout";
    }
    return "unknown";
}
