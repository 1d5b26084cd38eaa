/* Complete messages as programs write them, brought to a form that any relay takes: lines of at
 * most 998 octets, headers in ASCII. */
#ifndef MQ_MIME_WIRE_REPAIR_H
#define MQ_MIME_WIRE_REPAIR_H

#include "mime/wire/message.h"

/* Brings a complete message to this form: calls mq_message_normalize(), whose arguments and errors
 * are the same, and repairs what its flags report. Callers use this for every complete message.
 * options->max_size also limits the repaired message. info->flags describe the repaired message:
 * MQ_MESSAGE_8BIT and MQ_MESSAGE_UTF8_HEADERS only.
 *
 * To a reader, the repaired message means the same:
 *
 * - Bytes over 127 in the message's own headers, not in those of its parts, are encoded:
 *   unstructured fields, and names and comments of address fields, as encoded words (RFC 2047),
 *   parameters by RFC 2231, domains as A-labels, URIs of List-* fields with "%" (RFC 3987). The
 *   charset is utf-8; for a field that is not UTF-8, that of the Content-Type, or else
 *   windows-1252. In an address field that cannot be read, what is between the commas is encoded as
 *   text. Local parts, ids, dates and trace fields stay as they are if they are UTF-8 (SMTPUTF8).
 * - Header lines over 998 octets are folded, at white space if they have any.
 * - A body or part with lines over 998 octets is encoded as quoted-printable or base64. If it is
 *   encoded already, its lines are broken as that encoding allows. Around parts, and in content of
 *   unknown structure, lines are cut between characters, as relays do.
 *
 * MQ_MESSAGE if a body line over 998 octets is in multipart/signed or /encrypted or in
 * application/pkcs7-mime that is not encoded, which could not be verified or read after a change;
 * or in parts nested more than 32 deep, which are not examined.
 *
 * A message that needs none of this stays as it is, and so does one with a DKIM-Signature.
 * Repairing twice gives the same as repairing once: a field that a second repair would change again
 * is written in ASCII only. Linear time. */
enum mq_status mq_repair_accept(struct mq_str raw, const struct mq_message_options *options,
                                struct mq_buffer *out, struct mq_message_info *info,
                                struct mq_error *err);

/* Appends to `out` (initialised, empty) a 7-bit form of an accepted message whose body has bytes
 * over 127 (MQ_MESSAGE_8BIT), for relays that take 7 bits only (RFC 6152, section 3). Encodes
 * bodies as quoted-printable or base64, part by part, also those of attached messages, and the
 * headers of parts as mq_repair_accept() does those of messages. The message's own header section
 * changes in its MIME fields only. Readers decode the same octets. MQ_MESSAGE with the reason if
 * the message must not be changed: it has a DKIM-Signature, or what is to be encoded is in
 * multipart/signed or /encrypted, or of unknown structure. */
enum mq_status mq_repair_7bit(struct mq_str wire, struct mq_buffer *out, struct mq_error *err);

#endif
