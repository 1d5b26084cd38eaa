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
    src/core/address.c
    src/core/backoff.c
    src/core/bucket.c
    src/core/buffer.c
    src/core/clock.c
    src/core/dsn.c
    src/core/dsn_command.c
    src/core/dsn_options.c
    src/core/dsn_text.c
    src/core/error.c
    src/core/file_id.c
    src/core/json.c
    src/core/notify.c
    src/core/own_file.c
    src/core/process.c
    src/core/reply.c
    src/core/states.c
    src/core/verdict.c
    src/db/db.c
    src/db/server_dsn.c
    src/db/sqlite.c
    src/db/sqlite_busy.c
    src/db/sqlite_error.c
    src/db/sqlite_failed_sync.c
    src/db/sqlite_guard.c
    src/db/sqlite_open.c
    src/db/sqlite_path.c
    src/db/sqlite_reader.c
    src/db/sqlite_stmt.c
    src/db/sqlite_wal.c
    src/mime/composer.c
    src/mime/dkim.c
    src/mime/dkim_canon.c
    src/mime/dkim_key.c
    src/mime/encode.c
    src/mime/envelope.c
    src/mime/header.c
    src/mime/header_address.c
    src/mime/header_own.c
    src/mime/html_text.c
    src/mime/html_text_attribute.c
    src/mime/html_text_link.c
    src/mime/html_text_source.c
    src/mime/html_text_writer.c
    src/mime/idn.c
    src/mime/mailbox.c
    src/mime/mailbox_header.c
    src/mime/mend.c
    src/mime/mend_address.c
    src/mime/mend_body.c
    src/mime/mend_field.c
    src/mime/mend_fold.c
    src/mime/mend_param.c
    src/mime/mend_words.c
    src/mime/message.c
    src/mime/message_wire.c
    src/mime/param.c
    src/mime/part.c
    src/mime/part_tree.c
    src/mime/signed.c
    src/php/address_fields.c
    src/php/attachments.c
    src/php/capture.c
    src/php/capture_command.c
    src/php/capture_envelope.c
    src/php/capture_local.c
    src/php/capture_mb.c
    src/php/capture_text.c
    src/php/class_entries.c
    src/php/classes.c
    src/php/closure_transport.c
    src/php/database_arg.c
    src/php/dsn_arg.c
    src/php/exceptions.c
    src/php/fields.c
    src/php/file_acl.c
    src/php/globals.c
    src/php/guard.c
    src/php/holder.c
    src/php/ini.c
    src/php/iterate.c
    src/php/job_object.c
    src/php/local_file.c
    src/php/mail.c
    src/php/mail_args.c
    src/php/media_type.c
    src/php/message_arg.c
    src/php/message_fields.c
    src/php/message_object.c
    src/php/methods_claim.c
    src/php/methods_config.c
    src/php/methods_construct.c
    src/php/methods_enqueue.c
    src/php/methods_manage.c
    src/php/methods_worker.c
    src/php/nearest.c
    src/php/paths.c
    src/php/pdo_attributes.c
    src/php/pdo_call.c
    src/php/pdo_driver.c
    src/php/pdo_dsn.c
    src/php/pdo_error.c
    src/php/pdo_mysql.c
    src/php/pdo_open.c
    src/php/pdo_own.c
    src/php/pdo_pooler.c
    src/php/pdo_statement.c
    src/php/pdo_worker.c
    src/php/queue_object.c
    src/php/recipients.c
    src/php/server_about.c
    src/php/time_arg.c
    src/php/value_objects.c
    src/php/worker_hooks.c
    src/php/worker_slot.c
    src/queue/batch.c
    src/queue/body.c
    src/queue/claim.c
    src/queue/clock.c
    src/queue/columns.c
    src/queue/config.c
    src/queue/config_table.c
    src/queue/config_values.c
    src/queue/enqueue.c
    src/queue/event.c
    src/queue/limit.c
    src/queue/manage.c
    src/queue/move_note.c
    src/queue/pause.c
    src/queue/place.c
    src/queue/queue.c
    src/queue/recover.c
    src/queue/redirect.c
    src/queue/relay_texts.c
    src/queue/schema.c
    src/queue/settings.c
    src/queue/settle.c
    src/queue/sql.c
    src/queue/sql_dialect.c
    src/queue/sql_mysql.c
    src/queue/sql_pgsql.c
    src/queue/stats.c
    src/queue/sweep.c
    src/queue/transaction.c
    src/queue/turn.c
    src/send/curl_caps.c
    src/send/curl_session.c
    src/send/factory.c
    src/send/intent.c
    src/send/intent_read.c
    src/send/maildir.c
    src/send/null.c
    src/send/process.c
    src/send/sendmail.c
    src/send/sendmail_command.c
    src/send/sendmail_exit.c
    src/send/sendmail_pool.c
    src/send/smtp.c
    src/send/smtp_check.c
    src/send/smtp_loop.c
    src/send/smtp_pool.c
    src/send/smtp_reply.c
    src/send/smtp_session.c
    src/send/smtp_write.c
    src/worker/finding.c
    src/worker/flight.c
    src/worker/lock.c
    src/worker/log.c
    src/worker/message.c
    src/worker/outcome.c
    src/worker/place.c
    src/worker/recovery.c
    src/worker/report.c
    src/worker/run_dir.c
    src/worker/signals.c
    src/worker/stop.c
    src/worker/trouble.c
    src/worker/turn.c
    src/worker/upkeep.c
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
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/mime])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/db])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/queue])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/send])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/worker])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php])
  PHP_SUBST([MAILQUEUE_SHARED_LIBADD])
  dnl For tools/test lint, which compiles with these and no others.
  MAILQUEUE_CFLAGS=$mailqueue_cflags
  PHP_SUBST([MAILQUEUE_CFLAGS])
  PHP_ADD_MAKEFILE_FRAGMENT
fi
