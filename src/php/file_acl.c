/* What PHP has no function for: whether a file has an access control list, whose mask stands where
 * its group's rights do otherwise. */
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "php_mailqueue.h"
#include "stubs/mailqueue_methods.h"

ZEND_METHOD(MailQueue_Internal, hasAcl)
{
    zend_string *path;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_PATH_STR(path)
    ZEND_PARSE_PARAMETERS_END();
#ifdef __linux__
    RETURN_BOOL(getxattr(ZSTR_VAL(path), "system.posix_acl_access", NULL, 0) > 0);
#else
    (void)path;
    RETURN_TRUE; /* unknown: take the careful answer */
#endif
}
