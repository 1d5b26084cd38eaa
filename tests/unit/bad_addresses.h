/* Addresses that every parser must refuse: strings from published advisories, and common typing
 * errors. */
#ifndef MQ_TESTS_BAD_ADDRESSES_H
#define MQ_TESTS_BAD_ADDRESSES_H

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"

/* Options for the sendmail program (PHPMailer CVE-2016-10033 and -10045, Swift Mailer -10074, Zend
 * Framework -10034, Symfony CVE-2026-45068), also in forms that Exim expands. */
#define BAD_OPTIONS                                                                      \
    "-X/x@example.org", "-OQueueDirectory=/tmp@example.org", "-be${run{x}}@example.org", \
        "-f@example.org", "--@example.org", "\"a@evil x\"@ok", "\"a\"@ok.example",       \
        "\"\\\" -X/var/www/x.php \"@example.org",                                        \
        "\"\\\" -oQ/tmp/ -X/var/www/cache/x.php  some\"@example.org",                    \
        "\"\\' -oQ/tmp/ -X/var/www/cache/x.php  some\"@example.org",                     \
        "\"attacker' -oQ/tmp -X/x\"@example.org", "'attacker -X/x'@example.org -oQ/tmp", \
        "root@localhost -X/x", "-X/x", "a@example.org -be ${run{/bin/id}{a}{b}}",        \
        "a(tmp1 -be ${run{${substr{0}{1}{$spool_directory}}usr}})@example.org"

/* Lines of headers or commands (Symfony CVE-2026-45067, Laravel CVE-2026-48019, the smuggling of
 * CVE-2023-51764 to -51766). */
#define BAD_LINES                                                                          \
    "a@example.org\r\nRCPT TO:<b@example.org>", "a@example.org\r\nBcc: b@example.org",     \
        "a@example.org\nBcc: b@example.org", "a@example.org\rBcc: b@example.org",          \
        "\"a\r\nBcc: b@example.org\r\n\"@example.org", "\"a\n\"@example.org",              \
        "a@example.org>\r\nDATA\r\n.\r\nMAIL FROM:<b@example.org", "a\r@example.org",      \
        "a\r\n@example.org", "a@example.org\n.\r\nMAIL FROM:<b@example.org>\n",            \
        "a@example.org\r.\r", "a@[1.2.3.4\r\n]", "a@\r\nexample.org", "a\x01@example.org", \
        "a\x0B@example.org", "a\x1B[2J@example.org", "a\x7f@example.org", "a@example.org\x7f"

#define BAD_FORMS                                                                                \
    "@", "a", "a@", "@b", "a\"b\"@example.org", "a(comment)@example.org", "a@(c)example.org",    \
        "a@exam(c)ple.org", "a@b@example.org", "@relay.example:a@example.org",                   \
        "@one.example,@two.example:a@example.org", "a b@example.org", "a@exa mple.org",          \
        "a @example.org", "a@ example.org", "a\t@example.org", "a@example.org;b@example.org",    \
        "a@example.org>", "a@example.org> SIZE=1", "<<a@example.org>>", ".a@example.org",        \
        "a.@example.org", "a..b@example.org", "a\\b@example.org", "a\\@b@example.org",           \
        "a:b@example.org", "a[b@example.org", "a@.example.org", "a@example..org",                \
        "a@example.org.", "a@.", "a@-example.org", "a@example-.org", "a@example.-org",           \
        "a@example.org-", "a@exam_ple.org", "a@exam/ple.org", "a@example.org:25", "a@[", "a@[]", \
        "a@[1.2.3]", "a@[1.2.3.4", "a@[1.2.3.256]", "a@[1.2.3.4]x", "a@[IPv6:]",                 \
        "a@[IPv6:1.2.3.4]", "a@[IPv6:::1%eth0]", "a@[2001:db8::1]", "a@[x]", "a@1.2.3.4]",       \
        "a%b@[example.org]", "a\xFF@example.org", "a\xC3@example.org",                           \
        "a\xED\xA0\x80@example.org", "a\xC2\x85@example.org", "a\xC2\xA0@example.org",           \
        "a\xE2\x80\xA8@example.org", "a\xE2\x80\xAE@example.org",                                \
        "a@ex\xE2\x80\xAE"                                                                       \
        "ample.org",                                                                             \
        "a@ex\xFF"                                                                               \
        "ample.org",                                                                             \
        "a\xEF\xBC\xA0"                                                                          \
        "example.org"

#define BAD_LENGTHS                                                                      \
    A60 "aaaaa@example.org", "a@" A63 "a.example", "a@" A63 "." A63 "." A63 "." A60 "a", \
        "a@" A63 "." A63 "." A63 "." A63 "." A10

/* 65 octets before the "@"; a label of 64; 255 octets in all; more than that in the domain */
#define BAD_ADDRESSES BAD_OPTIONS, BAD_LINES, BAD_FORMS, BAD_LENGTHS

#endif
