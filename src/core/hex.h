/* Hexadecimal digits. */
#ifndef MQ_CORE_HEX_H
#define MQ_CORE_HEX_H

/* The value of a hexadecimal digit, or -1. */
static inline int mq_hex_value(char c)
{
    char low = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* Writes a byte as two upper-case hexadecimal digits. Returns where they end. */
static inline char *mq_hex_put(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    to[0] = digits[byte >> 4];
    to[1] = digits[byte & 15];
    return to + 2;
}

#endif
