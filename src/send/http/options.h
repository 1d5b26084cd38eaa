/* Options of libcurl for exchange.c. */
#ifndef MQ_SEND_HTTP_OPTIONS_H
#define MQ_SEND_HTTP_OPTIONS_H

#include <curl/curl.h>
#include <stdbool.h>

#include "core/buffer.h"

struct mq_dsn;

bool mq_http_set_network(CURL *easy, const struct mq_dsn *dsn);
/* Appends libcurl's words to `trace`, in the form of mq_smtp_probe(). */
bool mq_http_set_trace(CURL *easy, struct mq_buffer *trace);
/* Appends the fields of the server's certificate, if it was seen; `trace` can be NULL. */
void mq_http_trace_certificate(CURL *easy, struct mq_buffer *trace);

#endif
