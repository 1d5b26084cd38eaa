/* Fills error structures. Texts are cut and made printable here, once. */
#include "core/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"

enum mq_status mq_error_set(struct mq_error *err, enum mq_status status, const char *field,
                            const char *format, ...)
{
    if (err == NULL) {
        return status;
    }
    /* Formats into copies first: err's own text can be an argument, to get a prefix. */
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
    err->status = status;
    err->in_doubt = false;
    mq_str_printable(err->text, sizeof err->text, 0, view);
    mq_str_printable(err->field, sizeof err->field, 0, mq_str_of(name));
    return status;
}

enum mq_status mq_error_nomem(struct mq_error *err)
{
    return mq_error_set(err, MQ_NOMEM, "",
                        "out of memory: make the message smaller or raise the memory limit");
}

enum mq_status mq_status_of_errno(int sys_errno)
{
    if (sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS) {
        return MQ_READONLY;
    }
    if (sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG) {
        return MQ_FULL;
    }
    return sys_errno == EIO ? MQ_IO : sys_errno == ENOMEM ? MQ_NOMEM : MQ_CANTOPEN;
}

const char *mq_status_name(enum mq_status status)
{
    static const char *const names[] = {
        [MQ_OK] = "ok",
        [MQ_NOMEM] = "out of memory",
        [MQ_INVALID] = "invalid argument",
        [MQ_MESSAGE] = "invalid message",
        [MQ_CONFIG] = "configuration",
        [MQ_BUSY] = "busy",
        [MQ_TX_ABORTED] = "undone",
        [MQ_READONLY] = "read-only",
        [MQ_CANTOPEN] = "cannot open",
        [MQ_FULL] = "full",
        [MQ_CORRUPT] = "corrupt",
        [MQ_IO] = "I/O error",
        [MQ_REPLACED] = "replaced",
        [MQ_SCHEMA] = "schema",
        [MQ_DUPLICATE] = "duplicate",
        [MQ_DATABASE] = "database",
        [MQ_TRANSPORT] = "transport",
        [MQ_REFUSED] = "refused",
        [MQ_THROWN] = "thrown",
        [MQ_BAILOUT] = "bailout",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
