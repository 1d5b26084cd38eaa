/* How libcurl connects to a relay or an API, and the trace of a probe. For the files of src/send/
 * that may use libcurl. */
#ifndef MQ_SEND_NETWORK_H
#define MQ_SEND_NETWORK_H

#include <curl/curl.h>
#include <stdbool.h>

#include "core/buffer.h"

struct mq_dsn;

/* Sets TLS, proxy, addresses and the timeout of the connection. */
bool mq_network_set(CURL *easy, const struct mq_dsn *dsn);
/* Whether another try soon would gain nothing. One timeout took long: three would outlast a run. */
bool mq_network_is_hopeless(CURLcode code);

/* Appends libcurl's words to `trace`, in the form of mq_smtp_probe(); with `replies`, also what is
 * said while it connects and logs in. */
bool mq_network_set_trace(CURL *easy, struct mq_buffer *trace, bool replies);
/* Appends a text to `trace`, which can be NULL. */
void mq_network_trace(struct mq_buffer *trace, char who, struct mq_str text);
/* Appends the fields of the server's own certificate, as far as libcurl came to read it. */
void mq_network_trace_certificate(CURL *easy, struct mq_buffer *trace);

#endif
