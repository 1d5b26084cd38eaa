/* What all transports have in common: lists of transfers, trouble, and the order in which they
 * stop. */
#include "send/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists ---- */

static void append(struct mq_transfer_list *list, struct mq_transfer *transfer)
{
    transfer->next = NULL;
    if (list->last != NULL) {
        list->last->next = transfer;
    } else {
        list->first = transfer;
    }
    list->last = transfer;
    list->count++;
}

void mq_transfer_prepend(struct mq_transfer_list *list, struct mq_transfer *transfer)
{
    transfer->next = list->first;
    list->first = transfer;
    if (list->last == NULL) {
        list->last = transfer;
    }
    list->count++;
}

struct mq_transfer *mq_transfer_take(struct mq_transfer_list *list, struct mq_transfer *before)
{
    struct mq_transfer *transfer = before != NULL ? before->next : list->first;
    if (transfer == NULL) {
        return NULL;
    }
    if (before != NULL) {
        before->next = transfer->next;
    } else {
        list->first = transfer->next;
    }
    if (list->last == transfer) {
        list->last = before;
    }
    list->count--;
    transfer->next = NULL;
    return transfer;
}

/* ---- transfers ---- */

bool mq_transport_may_begin(const struct mq_transport *transport)
{
    return !transport->troubled && !transport->stopped;
}

size_t mq_transport_capacity(const struct mq_transport *transport, bool just_in_time)
{
    return mq_transport_may_begin(transport) ? transport->ops->capacity(transport, just_in_time)
                                             : 0;
}

void mq_transport_submit(struct mq_transport *transport, struct mq_transfer *transfer)
{
    transfer->transport_flags = 0;
    transfer->drew_trouble = false;
    transfer->error[0] = '\0';
    transfer->phase = NULL;
    transfer->retry_after_s = 0;
    transfer->at_s = 0;
    transfer->end = MQ_TRANSFER_UNTOUCHED;
    append(mq_transport_may_begin(transport) ? &transport->pending : &transport->done, transfer);
}

struct mq_transfer *mq_transport_take_done(struct mq_transport *transport)
{
    return mq_transfer_take(&transport->done, NULL);
}

void mq_transport_give_back(struct mq_transport *transport, struct mq_transfer *transfer,
                            enum mq_transfer_end end)
{
    transfer->end = end;
    append(&transport->done, transfer);
}

void mq_transport_return_pending(struct mq_transport *transport)
{
    struct mq_transfer *transfer;
    while ((transfer = mq_transfer_take(&transport->pending, NULL)) != NULL) {
        mq_transport_give_back(transport, transfer, MQ_TRANSFER_UNTOUCHED);
    }
}

void mq_transport_set_results(const struct mq_transport *transport, struct mq_transfer *transfer,
                              enum mq_outcome result, int code, const char *reply)
{
    for (size_t i = 0; i < transfer->target_count; i++) {
        struct mq_target *target = &transfer->targets[i];
        target->result = result;
        target->phase = "handover";
        target->code = code;
        snprintf(target->reply, sizeof(target->reply), "%s", reply);
    }
    transfer->at_s = mq_clock_now_s(&transport->clock);
}

/* Appends text with LF for each CRLF. */
static void append_local(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0) {
        const char *end = memmem(text.data, text.len, "\r\n", 2);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        mq_buffer_append(out, text.data, len);
        if (end != NULL) {
            mq_buffer_char(out, '\n');
            len += 2;
        }
        text.data += len;
        text.len -= len;
    }
}

int mq_transfer_write(const struct mq_transfer *transfer, const char *heading, int fd)
{
    struct mq_buffer text = {0};
    int error = 0;
    size_t done = 0;
    mq_buffer_reserve(&text, strlen(heading) + transfer->prefix.len + transfer->message.len + 1);
    mq_buffer_cstr(&text, heading);
    append_local(&text, transfer->prefix);
    append_local(&text, transfer->message);
    error = text.failed ? ENOMEM : 0;
    while (error == 0 && done < text.len) {
        ssize_t n = write(fd, text.data + done, text.len - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            error = n == 0 ? EIO : errno;
        }
    }
    mq_buffer_clear(&text);
    return error;
}

/* ---- trouble, and the end ---- */

void mq_transport_in_trouble(struct mq_transport *transport, const char *reason,
                             int64_t retry_after_s)
{
    struct mq_relay_trouble *trouble = &transport->trouble;
    if (!transport->troubled) {
        transport->troubled = true;
        snprintf(trouble->reason, sizeof(trouble->reason), "%s", reason);
    }
    if (retry_after_s > trouble->retry_after_s) {
        trouble->retry_after_s = retry_after_s;
    }
}

void mq_transport_recall(struct mq_transport *transport)
{
    mq_transport_return_pending(transport);
    if (transport->ops->recall) {
        transport->ops->recall(transport);
    }
}

void mq_transport_wind_down(struct mq_transport *transport)
{
    transport->stopped = true;
    mq_transport_return_pending(transport);
    if (transport->ops->wind_down) {
        transport->ops->wind_down(transport);
    }
}

void mq_transport_recall_in_trouble(struct mq_transport *transport)
{
    if (transport->troubled && !transport->recalled) {
        transport->recalled = true;
        mq_transport_recall(transport);
    }
}

void mq_transport_reopen(struct mq_transport *transport)
{
    transport->troubled = transport->recalled = false;
    transport->trouble = (struct mq_relay_trouble){.retry_after_s = 0};
    if (transport->ops->reopen) {
        transport->ops->reopen(transport);
    }
}

void mq_transport_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    if (transport->ops->quit) {
        transport->ops->quit(transport, timeout_ms);
    }
}

void mq_transport_abort(struct mq_transport *transport)
{
    transport->stopped = true;
    mq_transport_return_pending(transport);
    if (transport->ops->abort) {
        transport->ops->abort(transport);
    }
}

void mq_transport_free(struct mq_transport *transport)
{
    if (transport->ops->free) {
        transport->ops->free(transport);
    }
    free(transport->name);
    free(transport);
}
