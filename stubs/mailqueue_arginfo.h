/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 2e5deb269aa7c1fa1e8e4571f568dfcee7e97014 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_MailQueue___construct, 0, 0, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, database, PDO, MAY_BE_STRING, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, table, IS_STRING, 0, "\'mail_queue\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, configTable, IS_STRING, 0, "\'config\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, referenceColumn, IS_STRING, 0, "\'reference\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, orphanCheck, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, backoff, MailQueue\\Backoff, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, journal, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, durability, IS_STRING, 0, "\'full\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, busyTimeout, IS_LONG, 0, "5000")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_default, 0, 0, MailQueue, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_enqueue, 0, 0, IS_LONG, 1)
	ZEND_ARG_TYPE_MASK(0, message, MAY_BE_ARRAY|MAY_BE_STRING|MAY_BE_OBJECT|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reference, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, type, IS_STRING, 0, "\'mail\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, priority, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_TYPE_MASK(0, sendAt, DateTimeInterface, MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, expiresAt, DateTimeInterface, MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, envelopeFrom, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, recipients, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, dsn, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, relay, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, list, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_enqueueMany, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, messages, Traversable, MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_envelope, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, message, MAY_BE_STRING|MAY_BE_OBJECT, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_claim, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_LONG, 0, "900")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_complete, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, job, MailQueue\\Job, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_release arginfo_class_MailQueue_complete

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_renew, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, job, MailQueue\\Job, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_LONG, 0, "900")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_fail, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, job, MailQueue\\Job, 0)
	ZEND_ARG_TYPE_INFO(0, error, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, permanent, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, retryAfter, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_recoverStuckSending, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, now, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_takeTokens, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, wanted, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_runWorker, 0, 0, MailQueue\\Report, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, transport, Closure, MAY_BE_STRING|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, compose, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, connections, IS_LONG, 0, "10")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, batch, IS_LONG, 0, "100")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_LONG, 0, "900")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeLimit, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, messageLimit, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxWorkers, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grace, IS_LONG, 0, "30")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, daemon, _IS_BOOL, 0, "false")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, onUncertain, MailQueue\\OnUncertain, 0, "MailQueue\\OnUncertain::Retry")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, log, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onEvent, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, dkim, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxBytes, IS_LONG, 0, "67108864")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, verbose, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, sign, IS_CALLABLE, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, relays, Closure, MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onFinished, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_runAfterResponse, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seconds, IS_LONG, 0, "5")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, mails, IS_LONG, 0, "20")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, compose, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, sign, IS_CALLABLE, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, relays, Closure, MAY_BE_ARRAY|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_checkTransport, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, transport, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_LONG, 0, "900")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_stats, 0, 0, MailQueue\\Stats, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, exactUpTo, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_jobs, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, status, MailQueue\\Status, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "50")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, after, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, type, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reference, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, recipient, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, subject, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, createdBefore, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, uncertain, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expected, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, until, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, campaign, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_strays, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_job, 0, 1, MailQueue\\Job, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_expectedAt, 0, 1, IS_LONG, 1)
	ZEND_ARG_TYPE_INFO(0, id, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_retryFailed, 0, 0, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ids, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, resetAttempts, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_resend, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, to, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, instead, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_countAsSent, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, ids, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_hold arginfo_class_MailQueue_countAsSent

#define arginfo_class_MailQueue_delete arginfo_class_MailQueue_countAsSent

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_suppress, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 0, "\'manual\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scope, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, source, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_unsuppress, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scope, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_suppression, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_suppressions, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "50")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, after, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, scope, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_unsubscribeUrl, 0, 3, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, list, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, url, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_campaign, 0, 1, MailQueue\\Campaign, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_campaigns, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "50")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, before, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_config, 0, 1, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_setConfig, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, value, MAY_BE_STRING|MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_BOOL|MAY_BE_NULL, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_migrate, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_diagnostics arginfo_class_MailQueue_strays

#define arginfo_class_MailQueue_configKeys arginfo_class_MailQueue_strays

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_describe, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, database, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_tables, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, database, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, table, IS_STRING, 0, "\'mail_queue\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, configTable, IS_STRING, 0, "\'config\'")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_Internal_connect, 0, 1, PDO, 0)
	ZEND_ARG_TYPE_INFO(0, database, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_columns, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_workers, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_select, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, sql, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, parameters, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_jobIds, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, status, MailQueue\\Status, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "50")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, after, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, type, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reference, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, recipient, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, error, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, subject, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, createdBefore, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, uncertain, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expected, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, until, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, campaign, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_campaigns, 0, 4, IS_ARRAY, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, limit, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, before, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, parkedMost, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_eraseHistory, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, ids, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Internal_eraseRecipients arginfo_class_MailQueue_Internal_eraseHistory

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_suppressMany, 0, 2, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, rows, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, dry, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_forgetSuppressed, 0, 2, IS_LONG, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Internal_addressHash arginfo_class_MailQueue_Internal_forgetSuppressed

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_bounce, 0, 10, IS_STRING, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, hash, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, event, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, kind, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, least, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, reason, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, scope, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, source, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, at, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_probe, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, transport, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_oauthRequest, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, endpoint, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, fields, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clientId, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, clientSecret, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cafile, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, proxy, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_fetch, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, url, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, timeoutMs, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cafile, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, proxy, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_accounts, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_oauthToken, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, account, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, refused, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_hasSecret, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, transport, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Internal_helo arginfo_class_MailQueue_Internal_probe

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_trace, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, on, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_verdict, 0, 3, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, reply, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, at, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, relay, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Internal_verdictRows arginfo_class_MailQueue_strays

#define arginfo_class_MailQueue_Internal_verdictRules arginfo_class_MailQueue_migrate

#define arginfo_class_MailQueue_Internal_limits arginfo_class_MailQueue_strays

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_afterResponse, 0, 7, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, queue, MailQueue, 0)
	ZEND_ARG_TYPE_INFO(0, seconds, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, mails, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, compose, IS_CALLABLE, 1)
	ZEND_ARG_TYPE_INFO(0, sign, IS_CALLABLE, 1)
	ZEND_ARG_OBJ_TYPE_MASK(0, relays, Closure, MAY_BE_ARRAY|MAY_BE_NULL, NULL)
	ZEND_ARG_TYPE_INFO(0, isLast, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Internal_hasAcl, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, path, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Enqueuer_enqueue arginfo_class_MailQueue_enqueue

#define arginfo_class_MailQueue_Enqueuer_enqueueMany arginfo_class_MailQueue_enqueueMany

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_MailQueue_Backoff___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_Backoff_steps, 0, 0, MailQueue\\Backoff, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 0, "10")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_Backoff_exponential, 0, 0, MailQueue\\Backoff, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, base, IS_LONG, 0, "30")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, max, IS_LONG, 0, "3600")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, jitter, IS_DOUBLE, 0, "0.2")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 0, "5")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_MailQueue_Backoff_fixed, 0, 0, MailQueue\\Backoff, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, delay, IS_LONG, 0, "15")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 0, "50")
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Campaign___construct arginfo_class_MailQueue_Backoff___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_setMessage, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, message, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, type, IS_STRING, 0, "\'campaign\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, priority, IS_LONG, 0, "-10")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, maxAttempts, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, envelopeFrom, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, relay, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, expiresAt, DateTimeInterface, MAY_BE_LONG|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, dsn, IS_ARRAY, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, list, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_add, 0, 1, IS_LONG, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, recipients, Traversable, MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onRefused, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_start, 0, 0, IS_VOID, 0)
	ZEND_ARG_OBJ_TYPE_MASK(0, at, DateTimeInterface, MAY_BE_LONG|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_pause, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Campaign_resume arginfo_class_MailQueue_Campaign_pause

#define arginfo_class_MailQueue_Campaign_cancel arginfo_class_MailQueue_Campaign_pause

#define arginfo_class_MailQueue_Campaign_progress arginfo_class_MailQueue_strays

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_failures, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "50")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, after, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Campaign_retryFailed arginfo_class_MailQueue_migrate

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_preview, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, address, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_MailQueue_Campaign_test, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, addresses, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, as, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_MailQueue_Job___construct arginfo_class_MailQueue_Backoff___construct

#define arginfo_class_MailQueue_Stats___construct arginfo_class_MailQueue_Backoff___construct

#define arginfo_class_MailQueue_Report___construct arginfo_class_MailQueue_Backoff___construct

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_MailQueue_DatabaseException___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, message, IS_STRING, 0, "\'\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, code, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, previous, Throwable, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reason, IS_STRING, 0, "\'database\'")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_MailQueue_MessageException___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, message, IS_STRING, 0, "\'\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, code, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, previous, Throwable, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, field, IS_STRING, 0, "\'message\'")
ZEND_END_ARG_INFO()


ZEND_METHOD(MailQueue, __construct);
ZEND_METHOD(MailQueue, default);
ZEND_METHOD(MailQueue, enqueue);
ZEND_METHOD(MailQueue, enqueueMany);
ZEND_METHOD(MailQueue, envelope);
ZEND_METHOD(MailQueue, claim);
ZEND_METHOD(MailQueue, complete);
ZEND_METHOD(MailQueue, release);
ZEND_METHOD(MailQueue, renew);
ZEND_METHOD(MailQueue, fail);
ZEND_METHOD(MailQueue, recoverStuckSending);
ZEND_METHOD(MailQueue, takeTokens);
ZEND_METHOD(MailQueue, runWorker);
ZEND_METHOD(MailQueue, runAfterResponse);
ZEND_METHOD(MailQueue, checkTransport);
ZEND_METHOD(MailQueue, stats);
ZEND_METHOD(MailQueue, jobs);
ZEND_METHOD(MailQueue, strays);
ZEND_METHOD(MailQueue, job);
ZEND_METHOD(MailQueue, expectedAt);
ZEND_METHOD(MailQueue, retryFailed);
ZEND_METHOD(MailQueue, resend);
ZEND_METHOD(MailQueue, countAsSent);
ZEND_METHOD(MailQueue, hold);
ZEND_METHOD(MailQueue, delete);
ZEND_METHOD(MailQueue, suppress);
ZEND_METHOD(MailQueue, unsuppress);
ZEND_METHOD(MailQueue, suppression);
ZEND_METHOD(MailQueue, suppressions);
ZEND_METHOD(MailQueue, unsubscribeUrl);
ZEND_METHOD(MailQueue, campaign);
ZEND_METHOD(MailQueue, campaigns);
ZEND_METHOD(MailQueue, config);
ZEND_METHOD(MailQueue, setConfig);
ZEND_METHOD(MailQueue, migrate);
ZEND_METHOD(MailQueue, diagnostics);
ZEND_METHOD(MailQueue, configKeys);
ZEND_METHOD(MailQueue_Internal, describe);
ZEND_METHOD(MailQueue_Internal, tables);
ZEND_METHOD(MailQueue_Internal, connect);
ZEND_METHOD(MailQueue_Internal, columns);
ZEND_METHOD(MailQueue_Internal, workers);
ZEND_METHOD(MailQueue_Internal, select);
ZEND_METHOD(MailQueue_Internal, jobIds);
ZEND_METHOD(MailQueue_Internal, campaigns);
ZEND_METHOD(MailQueue_Internal, eraseHistory);
ZEND_METHOD(MailQueue_Internal, eraseRecipients);
ZEND_METHOD(MailQueue_Internal, suppressMany);
ZEND_METHOD(MailQueue_Internal, forgetSuppressed);
ZEND_METHOD(MailQueue_Internal, addressHash);
ZEND_METHOD(MailQueue_Internal, bounce);
ZEND_METHOD(MailQueue_Internal, probe);
ZEND_METHOD(MailQueue_Internal, oauthRequest);
ZEND_METHOD(MailQueue_Internal, fetch);
ZEND_METHOD(MailQueue_Internal, accounts);
ZEND_METHOD(MailQueue_Internal, oauthToken);
ZEND_METHOD(MailQueue_Internal, hasSecret);
ZEND_METHOD(MailQueue_Internal, helo);
ZEND_METHOD(MailQueue_Internal, trace);
ZEND_METHOD(MailQueue_Internal, verdict);
ZEND_METHOD(MailQueue_Internal, verdictRows);
ZEND_METHOD(MailQueue_Internal, verdictRules);
ZEND_METHOD(MailQueue_Internal, limits);
ZEND_METHOD(MailQueue_Internal, afterResponse);
ZEND_METHOD(MailQueue_Internal, hasAcl);
ZEND_METHOD(MailQueue_Job, __construct);
ZEND_METHOD(MailQueue_Backoff, steps);
ZEND_METHOD(MailQueue_Backoff, exponential);
ZEND_METHOD(MailQueue_Backoff, fixed);
ZEND_METHOD(MailQueue_Campaign, __construct);
ZEND_METHOD(MailQueue_Campaign, setMessage);
ZEND_METHOD(MailQueue_Campaign, add);
ZEND_METHOD(MailQueue_Campaign, start);
ZEND_METHOD(MailQueue_Campaign, pause);
ZEND_METHOD(MailQueue_Campaign, resume);
ZEND_METHOD(MailQueue_Campaign, cancel);
ZEND_METHOD(MailQueue_Campaign, progress);
ZEND_METHOD(MailQueue_Campaign, failures);
ZEND_METHOD(MailQueue_Campaign, retryFailed);
ZEND_METHOD(MailQueue_Campaign, preview);
ZEND_METHOD(MailQueue_Campaign, test);
ZEND_METHOD(MailQueue_DatabaseException, __construct);


static const zend_function_entry class_MailQueue_methods[] = {
	ZEND_ME(MailQueue, __construct, arginfo_class_MailQueue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, default, arginfo_class_MailQueue_default, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue, enqueue, arginfo_class_MailQueue_enqueue, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, enqueueMany, arginfo_class_MailQueue_enqueueMany, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, envelope, arginfo_class_MailQueue_envelope, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue, claim, arginfo_class_MailQueue_claim, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, complete, arginfo_class_MailQueue_complete, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, release, arginfo_class_MailQueue_release, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, renew, arginfo_class_MailQueue_renew, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, fail, arginfo_class_MailQueue_fail, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, recoverStuckSending, arginfo_class_MailQueue_recoverStuckSending, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, takeTokens, arginfo_class_MailQueue_takeTokens, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, runWorker, arginfo_class_MailQueue_runWorker, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, runAfterResponse, arginfo_class_MailQueue_runAfterResponse, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, checkTransport, arginfo_class_MailQueue_checkTransport, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue, stats, arginfo_class_MailQueue_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, jobs, arginfo_class_MailQueue_jobs, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, strays, arginfo_class_MailQueue_strays, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, job, arginfo_class_MailQueue_job, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, expectedAt, arginfo_class_MailQueue_expectedAt, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, retryFailed, arginfo_class_MailQueue_retryFailed, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, resend, arginfo_class_MailQueue_resend, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, countAsSent, arginfo_class_MailQueue_countAsSent, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, hold, arginfo_class_MailQueue_hold, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, delete, arginfo_class_MailQueue_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, suppress, arginfo_class_MailQueue_suppress, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, unsuppress, arginfo_class_MailQueue_unsuppress, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, suppression, arginfo_class_MailQueue_suppression, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, suppressions, arginfo_class_MailQueue_suppressions, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, unsubscribeUrl, arginfo_class_MailQueue_unsubscribeUrl, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, campaign, arginfo_class_MailQueue_campaign, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, campaigns, arginfo_class_MailQueue_campaigns, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, config, arginfo_class_MailQueue_config, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, setConfig, arginfo_class_MailQueue_setConfig, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, migrate, arginfo_class_MailQueue_migrate, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, diagnostics, arginfo_class_MailQueue_diagnostics, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue, configKeys, arginfo_class_MailQueue_configKeys, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Internal_methods[] = {
	ZEND_ME(MailQueue_Internal, describe, arginfo_class_MailQueue_Internal_describe, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, tables, arginfo_class_MailQueue_Internal_tables, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, connect, arginfo_class_MailQueue_Internal_connect, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, columns, arginfo_class_MailQueue_Internal_columns, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, workers, arginfo_class_MailQueue_Internal_workers, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, select, arginfo_class_MailQueue_Internal_select, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, jobIds, arginfo_class_MailQueue_Internal_jobIds, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, campaigns, arginfo_class_MailQueue_Internal_campaigns, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, eraseHistory, arginfo_class_MailQueue_Internal_eraseHistory, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, eraseRecipients, arginfo_class_MailQueue_Internal_eraseRecipients, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, suppressMany, arginfo_class_MailQueue_Internal_suppressMany, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, forgetSuppressed, arginfo_class_MailQueue_Internal_forgetSuppressed, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, addressHash, arginfo_class_MailQueue_Internal_addressHash, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, bounce, arginfo_class_MailQueue_Internal_bounce, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, probe, arginfo_class_MailQueue_Internal_probe, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, oauthRequest, arginfo_class_MailQueue_Internal_oauthRequest, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, fetch, arginfo_class_MailQueue_Internal_fetch, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, accounts, arginfo_class_MailQueue_Internal_accounts, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, oauthToken, arginfo_class_MailQueue_Internal_oauthToken, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, hasSecret, arginfo_class_MailQueue_Internal_hasSecret, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, helo, arginfo_class_MailQueue_Internal_helo, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, trace, arginfo_class_MailQueue_Internal_trace, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, verdict, arginfo_class_MailQueue_Internal_verdict, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, verdictRows, arginfo_class_MailQueue_Internal_verdictRows, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, verdictRules, arginfo_class_MailQueue_Internal_verdictRules, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, limits, arginfo_class_MailQueue_Internal_limits, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, afterResponse, arginfo_class_MailQueue_Internal_afterResponse, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Internal, hasAcl, arginfo_class_MailQueue_Internal_hasAcl, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Enqueuer_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(MailQueue_Enqueuer, enqueue, arginfo_class_MailQueue_Enqueuer_enqueue, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(MailQueue_Enqueuer, enqueueMany, arginfo_class_MailQueue_Enqueuer_enqueueMany, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Status_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_OnUncertain_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Backoff_methods[] = {
	ZEND_MALIAS(MailQueue_Job, __construct, __construct, arginfo_class_MailQueue_Backoff___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(MailQueue_Backoff, steps, arginfo_class_MailQueue_Backoff_steps, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Backoff, exponential, arginfo_class_MailQueue_Backoff_exponential, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(MailQueue_Backoff, fixed, arginfo_class_MailQueue_Backoff_fixed, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Campaign_methods[] = {
	ZEND_ME(MailQueue_Campaign, __construct, arginfo_class_MailQueue_Campaign___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(MailQueue_Campaign, setMessage, arginfo_class_MailQueue_Campaign_setMessage, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, add, arginfo_class_MailQueue_Campaign_add, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, start, arginfo_class_MailQueue_Campaign_start, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, pause, arginfo_class_MailQueue_Campaign_pause, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, resume, arginfo_class_MailQueue_Campaign_resume, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, cancel, arginfo_class_MailQueue_Campaign_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, progress, arginfo_class_MailQueue_Campaign_progress, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, failures, arginfo_class_MailQueue_Campaign_failures, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, retryFailed, arginfo_class_MailQueue_Campaign_retryFailed, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, preview, arginfo_class_MailQueue_Campaign_preview, ZEND_ACC_PUBLIC)
	ZEND_ME(MailQueue_Campaign, test, arginfo_class_MailQueue_Campaign_test, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Job_methods[] = {
	ZEND_ME(MailQueue_Job, __construct, arginfo_class_MailQueue_Job___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Stats_methods[] = {
	ZEND_MALIAS(MailQueue_Job, __construct, __construct, arginfo_class_MailQueue_Stats___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Report_methods[] = {
	ZEND_MALIAS(MailQueue_Job, __construct, __construct, arginfo_class_MailQueue_Report___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_DatabaseException_methods[] = {
	ZEND_ME(MailQueue_DatabaseException, __construct, arginfo_class_MailQueue_DatabaseException___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_MessageException_methods[] = {
	ZEND_MALIAS(MailQueue_DatabaseException, __construct, __construct, arginfo_class_MailQueue_MessageException___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_TransportException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_MailQueue_RefusedException_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_MailQueue(zend_class_entry *class_entry_MailQueue_Enqueuer)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "MailQueue", class_MailQueue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_MailQueue_Enqueuer);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "runworker", sizeof("runworker") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "runworker", sizeof("runworker") - 1), 17, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "runafterresponse", sizeof("runafterresponse") - 1), 4, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "checktransport", sizeof("checktransport") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Internal(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Internal", class_MailQueue_Internal_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "describe", sizeof("describe") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "tables", sizeof("tables") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "connect", sizeof("connect") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "probe", sizeof("probe") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "oauthrequest", sizeof("oauthrequest") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "oauthrequest", sizeof("oauthrequest") - 1), 3, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "oauthtoken", sizeof("oauthtoken") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "hassecret", sizeof("hassecret") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "helo", sizeof("helo") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "afterresponse", sizeof("afterresponse") - 1), 5, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Enqueuer(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Enqueuer", class_MailQueue_Enqueuer_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Status(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("MailQueue\\Status", IS_STRING, class_MailQueue_Status_methods);

	zval enum_case_Pending_value;
	zend_string *enum_case_Pending_value_str = zend_string_init("pending", strlen("pending"), 1);
	ZVAL_STR(&enum_case_Pending_value, enum_case_Pending_value_str);
	zend_enum_add_case_cstr(class_entry, "Pending", &enum_case_Pending_value);

	zval enum_case_Sending_value;
	zend_string *enum_case_Sending_value_str = zend_string_init("sending", strlen("sending"), 1);
	ZVAL_STR(&enum_case_Sending_value, enum_case_Sending_value_str);
	zend_enum_add_case_cstr(class_entry, "Sending", &enum_case_Sending_value);

	zval enum_case_Failed_value;
	zend_string *enum_case_Failed_value_str = zend_string_init("failed", strlen("failed"), 1);
	ZVAL_STR(&enum_case_Failed_value, enum_case_Failed_value_str);
	zend_enum_add_case_cstr(class_entry, "Failed", &enum_case_Failed_value);

	zval enum_case_Parked_value;
	zend_string *enum_case_Parked_value_str = zend_string_init("parked", strlen("parked"), 1);
	ZVAL_STR(&enum_case_Parked_value, enum_case_Parked_value_str);
	zend_enum_add_case_cstr(class_entry, "Parked", &enum_case_Parked_value);

	zval enum_case_Held_value;
	zend_string *enum_case_Held_value_str = zend_string_init("held", strlen("held"), 1);
	ZVAL_STR(&enum_case_Held_value, enum_case_Held_value_str);
	zend_enum_add_case_cstr(class_entry, "Held", &enum_case_Held_value);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_OnUncertain(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("MailQueue\\OnUncertain", IS_STRING, class_MailQueue_OnUncertain_methods);

	zval enum_case_Retry_value;
	zend_string *enum_case_Retry_value_str = zend_string_init("retry", strlen("retry"), 1);
	ZVAL_STR(&enum_case_Retry_value, enum_case_Retry_value_str);
	zend_enum_add_case_cstr(class_entry, "Retry", &enum_case_Retry_value);

	zval enum_case_Hold_value;
	zend_string *enum_case_Hold_value_str = zend_string_init("hold", strlen("hold"), 1);
	ZVAL_STR(&enum_case_Hold_value, enum_case_Hold_value_str);
	zend_enum_add_case_cstr(class_entry, "Hold", &enum_case_Hold_value);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Backoff(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Backoff", class_MailQueue_Backoff_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_policy_default_value;
	ZVAL_UNDEF(&property_policy_default_value);
	zend_string *property_policy_name = zend_string_init("policy", sizeof("policy") - 1, 1);
	zend_declare_typed_property(class_entry, property_policy_name, &property_policy_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_policy_name);

	zval property_maxAttempts_default_value;
	ZVAL_UNDEF(&property_maxAttempts_default_value);
	zend_string *property_maxAttempts_name = zend_string_init("maxAttempts", sizeof("maxAttempts") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxAttempts_name, &property_maxAttempts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_maxAttempts_name);

	zval property_base_default_value;
	ZVAL_UNDEF(&property_base_default_value);
	zend_string *property_base_name = zend_string_init("base", sizeof("base") - 1, 1);
	zend_declare_typed_property(class_entry, property_base_name, &property_base_default_value, ZEND_ACC_PRIVATE|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_base_name);

	zval property_max_default_value;
	ZVAL_UNDEF(&property_max_default_value);
	zend_string *property_max_name = zend_string_init("max", sizeof("max") - 1, 1);
	zend_declare_typed_property(class_entry, property_max_name, &property_max_default_value, ZEND_ACC_PRIVATE|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_max_name);

	zval property_jitter_default_value;
	ZVAL_UNDEF(&property_jitter_default_value);
	zend_string *property_jitter_name = zend_string_init("jitter", sizeof("jitter") - 1, 1);
	zend_declare_typed_property(class_entry, property_jitter_name, &property_jitter_default_value, ZEND_ACC_PRIVATE|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_jitter_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Campaign(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Campaign", class_MailQueue_Campaign_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Job(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Job", class_MailQueue_Job_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_id_name);

	zval property_reference_default_value;
	ZVAL_UNDEF(&property_reference_default_value);
	zend_string *property_reference_name = zend_string_init("reference", sizeof("reference") - 1, 1);
	zend_declare_typed_property(class_entry, property_reference_name, &property_reference_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_reference_name);

	zval property_type_default_value;
	ZVAL_UNDEF(&property_type_default_value);
	zend_string *property_type_name = zend_string_init("type", sizeof("type") - 1, 1);
	zend_declare_typed_property(class_entry, property_type_name, &property_type_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_type_name);

	zend_string *property_status_class_MailQueue_Status = zend_string_init("MailQueue\\Status", sizeof("MailQueue\\Status")-1, 1);
	zval property_status_default_value;
	ZVAL_UNDEF(&property_status_default_value);
	zend_string *property_status_name = zend_string_init("status", sizeof("status") - 1, 1);
	zend_declare_typed_property(class_entry, property_status_name, &property_status_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_status_class_MailQueue_Status, 0, 0));
	zend_string_release(property_status_name);

	zval property_priority_default_value;
	ZVAL_UNDEF(&property_priority_default_value);
	zend_string *property_priority_name = zend_string_init("priority", sizeof("priority") - 1, 1);
	zend_declare_typed_property(class_entry, property_priority_name, &property_priority_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_priority_name);

	zval property_attempts_default_value;
	ZVAL_UNDEF(&property_attempts_default_value);
	zend_string *property_attempts_name = zend_string_init("attempts", sizeof("attempts") - 1, 1);
	zend_declare_typed_property(class_entry, property_attempts_name, &property_attempts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_attempts_name);

	zval property_maxAttempts_default_value;
	ZVAL_UNDEF(&property_maxAttempts_default_value);
	zend_string *property_maxAttempts_name = zend_string_init("maxAttempts", sizeof("maxAttempts") - 1, 1);
	zend_declare_typed_property(class_entry, property_maxAttempts_name, &property_maxAttempts_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_maxAttempts_name);

	zval property_uncertain_default_value;
	ZVAL_UNDEF(&property_uncertain_default_value);
	zend_string *property_uncertain_name = zend_string_init("uncertain", sizeof("uncertain") - 1, 1);
	zend_declare_typed_property(class_entry, property_uncertain_name, &property_uncertain_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_uncertain_name);

	zval property_uncertainTo_default_value;
	ZVAL_UNDEF(&property_uncertainTo_default_value);
	zend_string *property_uncertainTo_name = zend_string_init("uncertainTo", sizeof("uncertainTo") - 1, 1);
	zend_declare_typed_property(class_entry, property_uncertainTo_name, &property_uncertainTo_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_uncertainTo_name);

	zval property_nextAttemptAt_default_value;
	ZVAL_UNDEF(&property_nextAttemptAt_default_value);
	zend_string *property_nextAttemptAt_name = zend_string_init("nextAttemptAt", sizeof("nextAttemptAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_nextAttemptAt_name, &property_nextAttemptAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_nextAttemptAt_name);

	zval property_expiresAt_default_value;
	ZVAL_UNDEF(&property_expiresAt_default_value);
	zend_string *property_expiresAt_name = zend_string_init("expiresAt", sizeof("expiresAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_expiresAt_name, &property_expiresAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_expiresAt_name);

	zval property_lockedUntil_default_value;
	ZVAL_UNDEF(&property_lockedUntil_default_value);
	zend_string *property_lockedUntil_name = zend_string_init("lockedUntil", sizeof("lockedUntil") - 1, 1);
	zend_declare_typed_property(class_entry, property_lockedUntil_name, &property_lockedUntil_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_lockedUntil_name);

	zval property_lockedBy_default_value;
	ZVAL_UNDEF(&property_lockedBy_default_value);
	zend_string *property_lockedBy_name = zend_string_init("lockedBy", sizeof("lockedBy") - 1, 1);
	zend_declare_typed_property(class_entry, property_lockedBy_name, &property_lockedBy_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_lockedBy_name);

	zval property_lastAttemptAt_default_value;
	ZVAL_UNDEF(&property_lastAttemptAt_default_value);
	zend_string *property_lastAttemptAt_name = zend_string_init("lastAttemptAt", sizeof("lastAttemptAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_lastAttemptAt_name, &property_lastAttemptAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_lastAttemptAt_name);

	zval property_lastError_default_value;
	ZVAL_UNDEF(&property_lastError_default_value);
	zend_string *property_lastError_name = zend_string_init("lastError", sizeof("lastError") - 1, 1);
	zend_declare_typed_property(class_entry, property_lastError_name, &property_lastError_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_lastError_name);

	zval property_parkedFor_default_value;
	ZVAL_UNDEF(&property_parkedFor_default_value);
	zend_string *property_parkedFor_name = zend_string_init("parkedFor", sizeof("parkedFor") - 1, 1);
	zend_declare_typed_property(class_entry, property_parkedFor_name, &property_parkedFor_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_parkedFor_name);

	zval property_createdAt_default_value;
	ZVAL_UNDEF(&property_createdAt_default_value);
	zend_string *property_createdAt_name = zend_string_init("createdAt", sizeof("createdAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_createdAt_name, &property_createdAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_createdAt_name);

	zval property_resentOf_default_value;
	ZVAL_UNDEF(&property_resentOf_default_value);
	zend_string *property_resentOf_name = zend_string_init("resentOf", sizeof("resentOf") - 1, 1);
	zend_declare_typed_property(class_entry, property_resentOf_name, &property_resentOf_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_resentOf_name);

	zval property_expectedAt_default_value;
	ZVAL_UNDEF(&property_expectedAt_default_value);
	zend_string *property_expectedAt_name = zend_string_init("expectedAt", sizeof("expectedAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_expectedAt_name, &property_expectedAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_expectedAt_name);

	zval property_waitsFor_default_value;
	ZVAL_UNDEF(&property_waitsFor_default_value);
	zend_string *property_waitsFor_name = zend_string_init("waitsFor", sizeof("waitsFor") - 1, 1);
	zend_declare_typed_property(class_entry, property_waitsFor_name, &property_waitsFor_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_waitsFor_name);

	zval property_messageId_default_value;
	ZVAL_UNDEF(&property_messageId_default_value);
	zend_string *property_messageId_name = zend_string_init("messageId", sizeof("messageId") - 1, 1);
	zend_declare_typed_property(class_entry, property_messageId_name, &property_messageId_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_messageId_name);

	zval property_subject_default_value;
	ZVAL_UNDEF(&property_subject_default_value);
	zend_string *property_subject_name = zend_string_init("subject", sizeof("subject") - 1, 1);
	zend_declare_typed_property(class_entry, property_subject_name, &property_subject_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_subject_name);

	zval property_envelopeFrom_default_value;
	ZVAL_UNDEF(&property_envelopeFrom_default_value);
	zend_string *property_envelopeFrom_name = zend_string_init("envelopeFrom", sizeof("envelopeFrom") - 1, 1);
	zend_declare_typed_property(class_entry, property_envelopeFrom_name, &property_envelopeFrom_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_envelopeFrom_name);

	zval property_recipients_default_value;
	ZVAL_UNDEF(&property_recipients_default_value);
	zend_string *property_recipients_name = zend_string_init("recipients", sizeof("recipients") - 1, 1);
	zend_declare_typed_property(class_entry, property_recipients_name, &property_recipients_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY|MAY_BE_NULL));
	zend_string_release(property_recipients_name);

	zval property_refused_default_value;
	ZVAL_UNDEF(&property_refused_default_value);
	zend_string *property_refused_name = zend_string_init("refused", sizeof("refused") - 1, 1);
	zend_declare_typed_property(class_entry, property_refused_name, &property_refused_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_refused_name);

	zval property_relay_default_value;
	ZVAL_UNDEF(&property_relay_default_value);
	zend_string *property_relay_name = zend_string_init("relay", sizeof("relay") - 1, 1);
	zend_declare_typed_property(class_entry, property_relay_name, &property_relay_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_relay_name);

	zval property_message_default_value;
	ZVAL_UNDEF(&property_message_default_value);
	zend_string *property_message_name = zend_string_init("message", sizeof("message") - 1, 1);
	zend_declare_typed_property(class_entry, property_message_name, &property_message_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_message_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Stats(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Stats", class_MailQueue_Stats_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_pending_default_value;
	ZVAL_UNDEF(&property_pending_default_value);
	zend_string *property_pending_name = zend_string_init("pending", sizeof("pending") - 1, 1);
	zend_declare_typed_property(class_entry, property_pending_name, &property_pending_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pending_name);

	zval property_sending_default_value;
	ZVAL_UNDEF(&property_sending_default_value);
	zend_string *property_sending_name = zend_string_init("sending", sizeof("sending") - 1, 1);
	zend_declare_typed_property(class_entry, property_sending_name, &property_sending_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_sending_name);

	zval property_failed_default_value;
	ZVAL_UNDEF(&property_failed_default_value);
	zend_string *property_failed_name = zend_string_init("failed", sizeof("failed") - 1, 1);
	zend_declare_typed_property(class_entry, property_failed_name, &property_failed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_failed_name);

	zval property_parked_default_value;
	ZVAL_UNDEF(&property_parked_default_value);
	zend_string *property_parked_name = zend_string_init("parked", sizeof("parked") - 1, 1);
	zend_declare_typed_property(class_entry, property_parked_name, &property_parked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_parked_name);

	zval property_held_default_value;
	ZVAL_UNDEF(&property_held_default_value);
	zend_string *property_held_name = zend_string_init("held", sizeof("held") - 1, 1);
	zend_declare_typed_property(class_entry, property_held_name, &property_held_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_held_name);

	zval property_due_default_value;
	ZVAL_UNDEF(&property_due_default_value);
	zend_string *property_due_name = zend_string_init("due", sizeof("due") - 1, 1);
	zend_declare_typed_property(class_entry, property_due_name, &property_due_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_due_name);

	zval property_estimated_default_value;
	ZVAL_UNDEF(&property_estimated_default_value);
	zend_string *property_estimated_name = zend_string_init("estimated", sizeof("estimated") - 1, 1);
	zend_declare_typed_property(class_entry, property_estimated_name, &property_estimated_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_estimated_name);

	zval property_oldestWaitingSince_default_value;
	ZVAL_UNDEF(&property_oldestWaitingSince_default_value);
	zend_string *property_oldestWaitingSince_name = zend_string_init("oldestWaitingSince", sizeof("oldestWaitingSince") - 1, 1);
	zend_declare_typed_property(class_entry, property_oldestWaitingSince_name, &property_oldestWaitingSince_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_oldestWaitingSince_name);

	zval property_nextDueAt_default_value;
	ZVAL_UNDEF(&property_nextDueAt_default_value);
	zend_string *property_nextDueAt_name = zend_string_init("nextDueAt", sizeof("nextDueAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_nextDueAt_name, &property_nextDueAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_nextDueAt_name);

	zval property_enabled_default_value;
	ZVAL_UNDEF(&property_enabled_default_value);
	zend_string *property_enabled_name = zend_string_init("enabled", sizeof("enabled") - 1, 1);
	zend_declare_typed_property(class_entry, property_enabled_name, &property_enabled_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_enabled_name);

	zval property_limit_default_value;
	ZVAL_UNDEF(&property_limit_default_value);
	zend_string *property_limit_name = zend_string_init("limit", sizeof("limit") - 1, 1);
	zend_declare_typed_property(class_entry, property_limit_name, &property_limit_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_limit_name);

	zval property_burst_default_value;
	ZVAL_UNDEF(&property_burst_default_value);
	zend_string *property_burst_name = zend_string_init("burst", sizeof("burst") - 1, 1);
	zend_declare_typed_property(class_entry, property_burst_name, &property_burst_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_burst_name);

	zval property_reserve_default_value;
	ZVAL_UNDEF(&property_reserve_default_value);
	zend_string *property_reserve_name = zend_string_init("reserve", sizeof("reserve") - 1, 1);
	zend_declare_typed_property(class_entry, property_reserve_name, &property_reserve_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_reserve_name);

	zval property_rateMode_default_value;
	ZVAL_UNDEF(&property_rateMode_default_value);
	zend_string *property_rateMode_name = zend_string_init("rateMode", sizeof("rateMode") - 1, 1);
	zend_declare_typed_property(class_entry, property_rateMode_name, &property_rateMode_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_rateMode_name);

	zval property_tokens_default_value;
	ZVAL_UNDEF(&property_tokens_default_value);
	zend_string *property_tokens_name = zend_string_init("tokens", sizeof("tokens") - 1, 1);
	zend_declare_typed_property(class_entry, property_tokens_name, &property_tokens_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_tokens_name);

	zval property_nextTokenAt_default_value;
	ZVAL_UNDEF(&property_nextTokenAt_default_value);
	zend_string *property_nextTokenAt_name = zend_string_init("nextTokenAt", sizeof("nextTokenAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_nextTokenAt_name, &property_nextTokenAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_nextTokenAt_name);

	zval property_limits_default_value;
	ZVAL_UNDEF(&property_limits_default_value);
	zend_string *property_limits_name = zend_string_init("limits", sizeof("limits") - 1, 1);
	zend_declare_typed_property(class_entry, property_limits_name, &property_limits_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_limits_name);

	zval property_emptyIn_default_value;
	ZVAL_UNDEF(&property_emptyIn_default_value);
	zend_string *property_emptyIn_name = zend_string_init("emptyIn", sizeof("emptyIn") - 1, 1);
	zend_declare_typed_property(class_entry, property_emptyIn_name, &property_emptyIn_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_emptyIn_name);

	zval property_lastRunAt_default_value;
	ZVAL_UNDEF(&property_lastRunAt_default_value);
	zend_string *property_lastRunAt_name = zend_string_init("lastRunAt", sizeof("lastRunAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_lastRunAt_name, &property_lastRunAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_lastRunAt_name);

	zval property_pausedUntil_default_value;
	ZVAL_UNDEF(&property_pausedUntil_default_value);
	zend_string *property_pausedUntil_name = zend_string_init("pausedUntil", sizeof("pausedUntil") - 1, 1);
	zend_declare_typed_property(class_entry, property_pausedUntil_name, &property_pausedUntil_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_pausedUntil_name);

	zval property_pauseReason_default_value;
	ZVAL_UNDEF(&property_pauseReason_default_value);
	zend_string *property_pauseReason_name = zend_string_init("pauseReason", sizeof("pauseReason") - 1, 1);
	zend_declare_typed_property(class_entry, property_pauseReason_name, &property_pauseReason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_pauseReason_name);

	zval property_pausedRelay_default_value;
	ZVAL_UNDEF(&property_pausedRelay_default_value);
	zend_string *property_pausedRelay_name = zend_string_init("pausedRelay", sizeof("pausedRelay") - 1, 1);
	zend_declare_typed_property(class_entry, property_pausedRelay_name, &property_pausedRelay_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_pausedRelay_name);

	zval property_redirectTo_default_value;
	ZVAL_UNDEF(&property_redirectTo_default_value);
	zend_string *property_redirectTo_name = zend_string_init("redirectTo", sizeof("redirectTo") - 1, 1);
	zend_declare_typed_property(class_entry, property_redirectTo_name, &property_redirectTo_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_redirectTo_name);

	zval property_closed_default_value;
	ZVAL_UNDEF(&property_closed_default_value);
	zend_string *property_closed_name = zend_string_init("closed", sizeof("closed") - 1, 1);
	zend_declare_typed_property(class_entry, property_closed_name, &property_closed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_closed_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Report(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Report", class_MailQueue_Report_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_end_default_value;
	ZVAL_UNDEF(&property_end_default_value);
	zend_string *property_end_name = zend_string_init("end", sizeof("end") - 1, 1);
	zend_declare_typed_property(class_entry, property_end_name, &property_end_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_end_name);

	zval property_reason_default_value;
	ZVAL_UNDEF(&property_reason_default_value);
	zend_string *property_reason_name = zend_string_init("reason", sizeof("reason") - 1, 1);
	zend_declare_typed_property(class_entry, property_reason_name, &property_reason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_reason_name);

	zval property_resumeAt_default_value;
	ZVAL_UNDEF(&property_resumeAt_default_value);
	zend_string *property_resumeAt_name = zend_string_init("resumeAt", sizeof("resumeAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_resumeAt_name, &property_resumeAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_resumeAt_name);

	zval property_claimed_default_value;
	ZVAL_UNDEF(&property_claimed_default_value);
	zend_string *property_claimed_name = zend_string_init("claimed", sizeof("claimed") - 1, 1);
	zend_declare_typed_property(class_entry, property_claimed_name, &property_claimed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_claimed_name);

	zval property_sent_default_value;
	ZVAL_UNDEF(&property_sent_default_value);
	zend_string *property_sent_name = zend_string_init("sent", sizeof("sent") - 1, 1);
	zend_declare_typed_property(class_entry, property_sent_name, &property_sent_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_sent_name);

	zval property_recipients_default_value;
	ZVAL_UNDEF(&property_recipients_default_value);
	zend_string *property_recipients_name = zend_string_init("recipients", sizeof("recipients") - 1, 1);
	zend_declare_typed_property(class_entry, property_recipients_name, &property_recipients_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_recipients_name);

	zval property_tryLater_default_value;
	ZVAL_UNDEF(&property_tryLater_default_value);
	zend_string *property_tryLater_name = zend_string_init("tryLater", sizeof("tryLater") - 1, 1);
	zend_declare_typed_property(class_entry, property_tryLater_name, &property_tryLater_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_tryLater_name);

	zval property_refused_default_value;
	ZVAL_UNDEF(&property_refused_default_value);
	zend_string *property_refused_name = zend_string_init("refused", sizeof("refused") - 1, 1);
	zend_declare_typed_property(class_entry, property_refused_name, &property_refused_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_refused_name);

	zval property_parked_default_value;
	ZVAL_UNDEF(&property_parked_default_value);
	zend_string *property_parked_name = zend_string_init("parked", sizeof("parked") - 1, 1);
	zend_declare_typed_property(class_entry, property_parked_name, &property_parked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_parked_name);

	zval property_uncertain_default_value;
	ZVAL_UNDEF(&property_uncertain_default_value);
	zend_string *property_uncertain_name = zend_string_init("uncertain", sizeof("uncertain") - 1, 1);
	zend_declare_typed_property(class_entry, property_uncertain_name, &property_uncertain_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_uncertain_name);

	zval property_expired_default_value;
	ZVAL_UNDEF(&property_expired_default_value);
	zend_string *property_expired_name = zend_string_init("expired", sizeof("expired") - 1, 1);
	zend_declare_typed_property(class_entry, property_expired_name, &property_expired_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_expired_name);

	zval property_orphans_default_value;
	ZVAL_UNDEF(&property_orphans_default_value);
	zend_string *property_orphans_name = zend_string_init("orphans", sizeof("orphans") - 1, 1);
	zend_declare_typed_property(class_entry, property_orphans_name, &property_orphans_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_orphans_name);

	zval property_suppressed_default_value;
	ZVAL_UNDEF(&property_suppressed_default_value);
	zend_string *property_suppressed_name = zend_string_init("suppressed", sizeof("suppressed") - 1, 1);
	zend_declare_typed_property(class_entry, property_suppressed_name, &property_suppressed_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_suppressed_name);

	zval property_stale_default_value;
	ZVAL_UNDEF(&property_stale_default_value);
	zend_string *property_stale_name = zend_string_init("stale", sizeof("stale") - 1, 1);
	zend_declare_typed_property(class_entry, property_stale_name, &property_stale_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_stale_name);

	zval property_released_default_value;
	ZVAL_UNDEF(&property_released_default_value);
	zend_string *property_released_name = zend_string_init("released", sizeof("released") - 1, 1);
	zend_declare_typed_property(class_entry, property_released_name, &property_released_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_released_name);

	zval property_recovered_default_value;
	ZVAL_UNDEF(&property_recovered_default_value);
	zend_string *property_recovered_name = zend_string_init("recovered", sizeof("recovered") - 1, 1);
	zend_declare_typed_property(class_entry, property_recovered_name, &property_recovered_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_recovered_name);

	zval property_cutOff_default_value;
	ZVAL_UNDEF(&property_cutOff_default_value);
	zend_string *property_cutOff_name = zend_string_init("cutOff", sizeof("cutOff") - 1, 1);
	zend_declare_typed_property(class_entry, property_cutOff_name, &property_cutOff_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_cutOff_name);

	zval property_seconds_default_value;
	ZVAL_UNDEF(&property_seconds_default_value);
	zend_string *property_seconds_name = zend_string_init("seconds", sizeof("seconds") - 1, 1);
	zend_declare_typed_property(class_entry, property_seconds_name, &property_seconds_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_seconds_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_Exception(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "Exception", class_MailQueue_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_DatabaseException(zend_class_entry *class_entry_MailQueue_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "DatabaseException", class_MailQueue_DatabaseException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_MailQueue_Exception);

	zval property_reason_default_value;
	ZVAL_UNDEF(&property_reason_default_value);
	zend_string *property_reason_name = zend_string_init("reason", sizeof("reason") - 1, 1);
	zend_declare_typed_property(class_entry, property_reason_name, &property_reason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_reason_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_MessageException(zend_class_entry *class_entry_MailQueue_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "MessageException", class_MailQueue_MessageException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_MailQueue_Exception);

	zval property_field_default_value;
	ZVAL_UNDEF(&property_field_default_value);
	zend_string *property_field_name = zend_string_init("field", sizeof("field") - 1, 1);
	zend_declare_typed_property(class_entry, property_field_name, &property_field_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_field_name);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_TransportException(zend_class_entry *class_entry_MailQueue_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "TransportException", class_MailQueue_TransportException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_MailQueue_Exception);

	return class_entry;
}

static zend_class_entry *register_class_MailQueue_RefusedException(zend_class_entry *class_entry_MailQueue_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "MailQueue", "RefusedException", class_MailQueue_RefusedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_MailQueue_Exception);

	return class_entry;
}
