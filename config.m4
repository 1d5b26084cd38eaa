PHP_ARG_ENABLE([mailqueue],
  [whether to enable mailqueue],
  [AS_HELP_STRING([--enable-mailqueue], [Enable the mailqueue extension])],
  [yes])

PHP_ARG_ENABLE([mailqueue-sanitize],
  [whether to build mailqueue with ASan and UBSan],
  [AS_HELP_STRING([--enable-mailqueue-sanitize],
    [Build mailqueue with AddressSanitizer and UndefinedBehaviorSanitizer (for tests)])],
  [no],
  [no])

PHP_ARG_WITH([mailqueue-idn],
  [whether mailqueue takes internationalised domains (libidn2)],
  [AS_HELP_STRING([--without-mailqueue-idn],
    [Refuse domains that are not written in A-labels; default: take them where libidn2 is found])],
  [auto],
  [no])

PHP_ARG_WITH([mailqueue-html],
  [whether mailqueue makes text from HTML (libxml2)],
  [AS_HELP_STRING([--without-mailqueue-html],
    [Make no text part of HTML; default: make it where libxml2 is found])],
  [auto],
  [no])

PHP_ARG_WITH([mailqueue-dkim],
  [whether mailqueue signs with DKIM (OpenSSL 3)],
  [AS_HELP_STRING([--without-mailqueue-dkim],
    [Do not sign mail; default: sign where OpenSSL 3 is found])],
  [auto],
  [no])

if test "$PHP_MAILQUEUE" != "no"; then
  if test -z "$PKG_CONFIG"; then
    AC_MSG_ERROR([pkg-config is missing (Debian package: pkg-config)])
  fi
  PKG_CHECK_MODULES([SQLITE], [sqlite3 >= 3.35], [],
    [AC_MSG_ERROR([SQLite 3.35 or later is needed (Debian package: libsqlite3-dev)])])
  PKG_CHECK_MODULES([CURL], [libcurl >= 7.85], [],
    [AC_MSG_ERROR([libcurl 7.85 or later is needed (Debian package: libcurl4-openssl-dev)])])

  PHP_EVAL_INCLINE([$SQLITE_CFLAGS])
  PHP_EVAL_INCLINE([$CURL_CFLAGS])
  PHP_EVAL_LIBLINE([$SQLITE_LIBS], [MAILQUEUE_SHARED_LIBADD])
  PHP_EVAL_LIBLINE([$CURL_LIBS], [MAILQUEUE_SHARED_LIBADD])
  PHP_ADD_LIBRARY([m], [1], [MAILQUEUE_SHARED_LIBADD])

  dnl MAILQUEUE_OPTIONAL(prefix, module, what the user said, macro of the C sources)
  mailqueue_optional=""
  AC_DEFUN([MAILQUEUE_OPTIONAL], [
    if test "$3" != "no"; then
      PKG_CHECK_MODULES([$1], [$2], [
        PHP_EVAL_INCLINE([$$1_CFLAGS])
        PHP_EVAL_LIBLINE([$$1_LIBS], [MAILQUEUE_SHARED_LIBADD])
        mailqueue_optional="$mailqueue_optional -D$4=1"
      ], [
        if test "$3" != "auto"; then
          AC_MSG_ERROR([$2 was asked for and is missing])
        fi
      ])
    fi
  ])
  MAILQUEUE_OPTIONAL([IDN2], [libidn2 >= 2.0], [$PHP_MAILQUEUE_IDN], [MQ_HAVE_LIBIDN2])
  MAILQUEUE_OPTIONAL([LIBXML], [libxml-2.0 >= 2.9], [$PHP_MAILQUEUE_HTML], [MQ_HAVE_LIBXML2])
  MAILQUEUE_OPTIONAL([OPENSSL], [libcrypto >= 3.0], [$PHP_MAILQUEUE_DKIM], [MQ_HAVE_OPENSSL])

  dnl The files of the tree; tools/lists rewrites what is between the marks.
  mailqueue_sources="
    dnl sources: begin
    mailqueue.c
    src/campaign/adding.c
    src/campaign/mailing.c
    src/core/buffer.c
    src/core/clock.c
    src/core/error.c
    src/core/file_id.c
    src/core/hmac.c
    src/core/json.c
    src/core/json_tree.c
    src/core/key_file.c
    src/core/process_id.c
    src/core/siphash.c
    src/db/db.c
    src/db/server_dsn.c
    src/db/sqlite/checkpoint.c
    src/db/sqlite/connect.c
    src/db/sqlite/failed_sync.c
    src/db/sqlite/file_guard.c
    src/db/sqlite/file_name.c
    src/db/sqlite/lock_wait.c
    src/db/sqlite/pragma.c
    src/db/sqlite/prepared.c
    src/db/sqlite/read_only.c
    src/db/sqlite/result_code.c
    src/db/sqlite/sqlite.c
    src/mime/address.c
    src/mime/compose/calendar.c
    src/mime/compose/composer.c
    src/mime/compose/own_header.c
    src/mime/compose/part.c
    src/mime/compose/part_tree.c
    src/mime/dkim/canonical.c
    src/mime/dkim/dkim_key.c
    src/mime/dkim/sign.c
    src/mime/encode.c
    src/mime/header.c
    src/mime/idn.c
    src/mime/mailbox.c
    src/mime/notify.c
    src/mime/param.c
    src/mime/subject.c
    src/mime/template/campaign_message.c
    src/mime/template/campaign_octets.c
    src/mime/template/compile.c
    src/mime/template/escape.c
    src/mime/template/render.c
    src/mime/text/html.c
    src/mime/text/writer.c
    src/mime/unsubscribe.c
    src/mime/verp.c
    src/mime/wire/correct.c
    src/mime/wire/envelope.c
    src/mime/wire/message.c
    src/mime/wire/reader.c
    src/mime/wire/repair.c
    src/mime/wire/repair_address.c
    src/mime/wire/repair_body.c
    src/mime/wire/repair_field.c
    src/mime/wire/repair_fold.c
    src/mime/wire/repair_param.c
    src/mime/wire/repair_words.c
    src/php/campaign/add.c
    src/php/campaign/campaign_methods.c
    src/php/campaign/campaign_object.c
    src/php/campaign/set_message.c
    src/php/capture/as_sendmail.c
    src/php/capture/capture.c
    src/php/capture/header_text.c
    src/php/capture/mb_send_mail.c
    src/php/class/classes.c
    src/php/class/conversion.c
    src/php/class/exceptions.c
    src/php/class/internal_class.c
    src/php/class/internal_oauth.c
    src/php/class/internal_verdict.c
    src/php/class/job_object.c
    src/php/class/queue_after.c
    src/php/class/queue_claim.c
    src/php/class/queue_config.c
    src/php/class/queue_construct.c
    src/php/class/queue_enqueue.c
    src/php/class/queue_manage.c
    src/php/class/queue_object.c
    src/php/class/queue_worker.c
    src/php/class/value_objects.c
    src/php/globals.c
    src/php/guard.c
    src/php/ini.c
    src/php/local_file.c
    src/php/message/arguments.c
    src/php/message/array.c
    src/php/message/attachments.c
    src/php/message/fields.c
    src/php/message/given_message.c
    src/php/message/holder.c
    src/php/message/mail.c
    src/php/message/object.c
    src/php/paths.c
    src/php/pdo/call.c
    src/php/pdo/call_method.c
    src/php/pdo/driver.c
    src/php/pdo/held.c
    src/php/pdo/look.c
    src/php/pdo/mysql.c
    src/php/pdo/own.c
    src/php/pdo/pdo_statement.c
    src/php/pdo/pooler.c
    src/php/pdo/server.c
    src/php/pdo/server_about.c
    src/php/pdo/sqlstate.c
    src/php/pdo/worker_run.c
    src/php/stale.c
    src/php/suppress/bounce_methods.c
    src/php/suppress/link.c
    src/php/suppress/suppression_methods.c
    src/php/verdict_file.c
    src/php/worker/closure_transport.c
    src/php/worker/hooks.c
    src/php/worker/relay_arguments.c
    src/php/zone_reader.c
    src/policy/backoff.c
    src/policy/bucket.c
    src/policy/hours.c
    src/policy/http_verdict.c
    src/policy/job_state.c
    src/policy/limits.c
    src/policy/outcome.c
    src/policy/reply.c
    src/policy/rules.c
    src/policy/session_limit.c
    src/policy/slowdown.c
    src/policy/types.c
    src/policy/verdict.c
    src/policy/verdict_name.c
    src/policy/warmup.c
    src/policy/zone.c
    src/queue/all_limits.c
    src/queue/body.c
    src/queue/campaign/acts.c
    src/queue/campaign/campaign_rows.c
    src/queue/campaign/count.c
    src/queue/campaign/feed.c
    src/queue/campaign/recipients.c
    src/queue/claim/claim.c
    src/queue/claim/closed.c
    src/queue/claim/turns.c
    src/queue/config/config.c
    src/queue/config/kept_hours.c
    src/queue/config/keys.c
    src/queue/config/known_relays.c
    src/queue/config/relays.c
    src/queue/config/settings.c
    src/queue/config/slow.c
    src/queue/config/slow_counts.c
    src/queue/enqueue.c
    src/queue/event.c
    src/queue/history.c
    src/queue/manage.c
    src/queue/queue.c
    src/queue/recover.c
    src/queue/redirect.c
    src/queue/resend.c
    src/queue/settle.c
    src/queue/shared.c
    src/queue/sql/columns.c
    src/queue/sql/dialect.c
    src/queue/sql/dialect_mysql.c
    src/queue/sql/dialect_pgsql.c
    src/queue/sql/schema.c
    src/queue/sql/statements.c
    src/queue/sql/transaction.c
    src/queue/stats.c
    src/queue/suppress/address_hash.c
    src/queue/suppress/apply.c
    src/queue/suppress/bounce.c
    src/queue/suppress/change.c
    src/queue/suppress/find.c
    src/queue/suppress/recent.c
    src/queue/suppress/suppression_key.c
    src/queue/sweep.c
    src/queue/windows/expect.c
    src/queue/windows/ledger.c
    src/queue/windows/line.c
    src/queue/windows/payments.c
    src/queue/windows/under_way.c
    src/queue/windows/windows.c
    src/queue/worker_calls.c
    src/send/dsn.c
    src/send/dsn_command.c
    src/send/dsn_options.c
    src/send/dsn_text.c
    src/send/factory.c
    src/send/group.c
    src/send/http/api.c
    src/send/http/api_json.c
    src/send/http/ask.c
    src/send/http/exchange.c
    src/send/http/http.c
    src/send/http/mailbox_api.c
    src/send/http/mailgun.c
    src/send/http/payload.c
    src/send/http/result.c
    src/send/http/ses.c
    src/send/intent/intent.c
    src/send/intent/read.c
    src/send/maildir.c
    src/send/network.c
    src/send/null.c
    src/send/oauth/account.c
    src/send/oauth/account_file.c
    src/send/oauth/assertion.c
    src/send/oauth/grant.c
    src/send/oauth/token_request.c
    src/send/sendmail/command.c
    src/send/sendmail/exit_code.c
    src/send/sendmail/process.c
    src/send/sendmail/sendmail.c
    src/send/smtp/capabilities.c
    src/send/smtp/check.c
    src/send/smtp/connection.c
    src/send/smtp/hello.c
    src/send/smtp/host_name.c
    src/send/smtp/lmtp.c
    src/send/smtp/login_check.c
    src/send/smtp/pool.c
    src/send/smtp/receive.c
    src/send/smtp/session_state.c
    src/send/smtp/session_write.c
    src/send/smtp/smtp.c
    src/send/transport.c
    src/worker/cycle.c
    src/worker/database.c
    src/worker/dead_runs.c
    src/worker/deliveries.c
    src/worker/delivery.c
    src/worker/files.c
    src/worker/finding.c
    src/worker/lock.c
    src/worker/log.c
    src/worker/memory.c
    src/worker/relay/closing.c
    src/worker/relay/domain_answers.c
    src/worker/relay/kept.c
    src/worker/relay/lane.c
    src/worker/relay/passing.c
    src/worker/relay/paying.c
    src/worker/relay/relay_list.c
    src/worker/relay/route.c
    src/worker/report.c
    src/worker/rest.c
    src/worker/service_manager.c
    src/worker/signals.c
    src/worker/trouble.c
    src/worker/worker.c
    dnl sources: end
  "

  dnl _GNU_SOURCE: phpize defines it from PHP 8.2 on. -fvisibility=hidden: get_module is the only
  dnl symbol that PHP needs to see.
  mailqueue_cflags="-std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -Wall -Wextra -Wshadow"
  mailqueue_cflags="$mailqueue_cflags -Wno-unused-parameter -Werror=implicit-function-declaration"
  mailqueue_cflags="$mailqueue_cflags $mailqueue_optional"

  dnl MAILQUEUE_HARDEN(options of the compiler, options of the linker, then, else)
  AC_DEFUN([MAILQUEUE_HARDEN], [
    AC_MSG_CHECKING([whether the compiler takes $1 $2])
    mailqueue_CFLAGS=$CFLAGS
    mailqueue_LDFLAGS=$LDFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    LDFLAGS="$LDFLAGS $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[return (int)strlen("")]])],
      [mailqueue_takes=yes], [mailqueue_takes=no])
    CFLAGS=$mailqueue_CFLAGS
    LDFLAGS=$mailqueue_LDFLAGS
    AC_MSG_RESULT([$mailqueue_takes])
    if test "$mailqueue_takes" = yes; then
      mailqueue_cflags="$mailqueue_cflags $1"
      MAILQUEUE_SHARED_LIBADD="$MAILQUEUE_SHARED_LIBADD $2"
      m4_default([$3], [:])
    else
      m4_default([$4], [:])
    fi
  ])
  if test "$PHP_MAILQUEUE_SANITIZE" != "no"; then
    mailqueue_sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
    mailqueue_cflags="$mailqueue_cflags $mailqueue_sanitize -fno-omit-frame-pointer -g -O1"
    mailqueue_cflags="$mailqueue_cflags -DMAILQUEUE_SANITIZE=1"
    MAILQUEUE_SHARED_LIBADD="$MAILQUEUE_SHARED_LIBADD $mailqueue_sanitize"
  else
    MAILQUEUE_HARDEN([-fstack-protector-strong])
    MAILQUEUE_HARDEN([], [-Wl,-z,relro -Wl,-z,now])
    dnl Without -O the C library warns, and nothing is gained. Who sets a level in CFLAGS has it.
    case $CFLAGS in
    *_FORTIFY_SOURCE*) ;;
    *)
      MAILQUEUE_HARDEN([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3], [], [],
        [MAILQUEUE_HARDEN([-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])])
      ;;
    esac
  fi

  PHP_NEW_EXTENSION([mailqueue], [$mailqueue_sources], [$ext_shared],,
    [-I@ext_srcdir@/src -I@ext_srcdir@ $mailqueue_cflags])
  dnl directories: begin
  PHP_ADD_BUILD_DIR([$ext_builddir/src/campaign])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/db])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/db/sqlite])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime/compose])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime/dkim])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime/template])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime/text])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime/wire])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/campaign])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/capture])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/class])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/message])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/pdo])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/suppress])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php/worker])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/policy])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/campaign])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/claim])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/config])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/sql])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/suppress])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue/windows])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send/http])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send/intent])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send/oauth])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send/sendmail])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send/smtp])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/worker])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/worker/relay])
  dnl directories: end
  PHP_SUBST([MAILQUEUE_SHARED_LIBADD])
  dnl For tools/test lint, which compiles with these and no others.
  MAILQUEUE_CFLAGS=$mailqueue_cflags
  PHP_SUBST([MAILQUEUE_CFLAGS])
  PHP_ADD_MAKEFILE_FRAGMENT
fi
