/* Complete messages as programs write them, brought to a form that any relay takes: lines of at
 * most 998 octets, headers in ASCII. */
#ifndef MQ_MIME_WIRE_REPAIR_H
#define MQ_MIME_WIRE_REPAIR_H

#include "mime/wire/message.h"

/* What callers use for a message that comes as text: mq_message_normalize(), and where the flags of
 * that say that there is something to repair, it is repaired. Arguments and errors are the same;
 * options->max_size holds for the result too. info->flags are those of the result: MQ_MESSAGE_8BIT
 * and MQ_MESSAGE_UTF8_HEADERS only.
 *
 * A reader takes the repaired message for the same:
 *
 * - bytes over 127 in the message's own headers, not those of its parts, become encoded words (RFC
 *   2047), in names and comments of address fields, in unstructured fields; parameters by RFC 2231,
 *   domains in A-labels. The label is utf-8; for a field that is not UTF-8, the charset of the
 *   Content-Type, else windows-1252. An address field that cannot be read is text between its
 *   commas. A local part in UTF-8, ids, dates, trace fields and URIs stay as they are if they are
 *   UTF-8 (SMTPUTF8).
 * - header lines over 998 octets are folded, at white space where they have some.
 * - a body or part with lines over 998 octets is encoded, as quoted-printable or base64. Where it
 *   is so already, its lines are broken as these encodings do. Around parts, and in what is not
 *   understood, lines are cut between characters, as relays do.
 *
 * MQ_MESSAGE where such a line is in multipart/signed or /encrypted, or in application/pkcs7-mime
 * that is not encoded: changed, they could not be verified or read; or in parts nested more than 32
 * deep, which are not looked into.
 *
 * What needs none of this stays as it is, and so does a message with a DKIM-Signature. Repairing
 * twice gives the same as repairing once: a field that would be read otherwise then, for a part of
 * it was encoded or folded, keeps no UTF-8. Linear time. */
enum mq_status mq_repair_accept(struct mq_str raw, const struct mq_message_options *options,
                                struct mq_buffer *out, struct mq_message_info *info,
                                struct mq_error *err);

/* Appends to `out` (initialised, empty) an accepted message whose body has bytes over 127
 * (MQ_MESSAGE_8BIT) for relays that take 7 bits only (RFC 6152, section 3): bodies are encoded as
 * quoted-printable or base64, part by part, down to attached messages; headers of parts as those of
 * messages. The message's own header section stays as it is. A reader gets the same octets.
 * MQ_MESSAGE, the text says why, where it must not be changed: it has a DKIM-Signature, or what is
 * to be encoded is in multipart/signed or /encrypted, or not understood. */
enum mq_status mq_repair_7bit(struct mq_str wire, struct mq_buffer *out, struct mq_error *err);

#endif
