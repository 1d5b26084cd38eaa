/* Files with private keys: which of them are safe to use. */
#ifndef MQ_CORE_KEY_FILE_H
#define MQ_CORE_KEY_FILE_H

/* Why an open file cannot be that of a private key, with the cure, or NULL: it must be a regular
 * file of root or the process's user that no other user reads or writes, but by its group. */
const char *mq_file_key_fault(int fd);

#endif
