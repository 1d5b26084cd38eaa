--TEST--
runWorker() without a transport uses php.ini's sendmail_path; where that cannot be used; open_basedir
--EXTENSIONS--
posix
pdo_sqlite
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/programs.inc';
require dirname(__DIR__) . '/lib/queue.inc';

$programs = new Programs();
$programs->dsn('sendmail', 'echo "$@" >> $DIR/args; cat > /dev/null');
$programs->dsn('other', 'cat > /dev/null');
$programs->dsn('mailqueue', 'cat > /dev/null');
symlink('mailqueue', $programs->path('linked'));
$path = $programs->path('mail.db');
(new \MailQueue($path))->enqueue(\mail_fields());

/** Runs code in a PHP with its own settings; $work() runs a worker. */
function with(array $settings, string $code): void
{
    global $programs, $path;
    $options = [];
    foreach ($settings as $name => $value) {
        array_push($options, '-d', "$name=\"$value\"");
    }
    $work = '[, $path, $dir] = $argv; $queue = new MailQueue($path);
        $work = function (?string $dsn = null) use ($queue, $dir): void {
            $queue->setConfig("mailRelayPause", null);
            echo "  ", thrown(function () use ($queue, $dsn): void {
                $report = $queue->runWorker($dsn, log: "");
                echo "$report->end $report->sent sent; ";
            }, $dir), "\n";
        };';
    $library = var_export(dirname(__DIR__) . '/lib/queue.inc', true);
    $process = proc_open(php_command(...$options, ...['-r', "require $library; $work $code", '--',
        $path, $programs->directory]), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    echo str_replace($programs->directory, '%', stream_get_contents($pipes[1]));
    proc_close($process);
}

$sendmail = "'{$programs->path('sendmail')}' -t -i -f forced@example.org";
echo "the default:\n";
with(['sendmail_path' => $sendmail], '$work();');
echo $programs->file('args');
$other = 'sendmail://default?command=' . $programs->path('other');
echo "mailqueue.transport, and an argument, go before it:\n";
with(['sendmail_path' => '/no/such', 'mailqueue.transport' => 'null://null'], '$work();
    $queue->enqueue(mail_fields()); $work("null://null"); $work("");');
echo "cannot be it:\n";
with(['sendmail_path' => ''], '$work();');
with(['sendmail_path' => 'sendmail -t -i'], '$work();');
with(['sendmail_path' => "$sendmail > x"], '$work();');
with(['sendmail_path' => $programs->directory], '$work();');
with(['sendmail_path' => $programs->path('mailqueue') . ' sendmail -t -i'], '$work();');
with(['sendmail_path' => $programs->path('linked') . ' -t -i'], '$work();');
with(['sendmail_path' => '/usr/sbin/sendmail -bs'], '$work();');
echo "one that is missing is trouble, not an error:\n";
with(['sendmail_path' => $programs->path('none')], '$queue->enqueue(mail_fields()); $work();
    echo $queue->jobs()[0]->status->value, " ", $queue->jobs()[0]->attempts, "\n";');
echo "open_basedir is for what a DSN names:\n";
$inside = $programs->path('mail.d');
mkdir($inside);
foreach (glob("$path*") as $file) {
    rename($file, $inside . '/mail.db' . substr($file, strlen($path)));
}
$path = "$inside/mail.db";
with(['sendmail_path' => $sendmail], 'ini_set("open_basedir", dirname($path)); $work();
    $work("sendmail://default?command=$dir/other"); $work("file://$dir/box");
    $queue->enqueue(mail_fields()); $work("file://" . dirname($path) . "/box");');
echo "disable_functions too:\n";
with(['sendmail_path' => $sendmail, 'disable_functions' => 'proc_open,exec'],
    '$work("sendmail://default?command=$dir/other");
    $queue->enqueue(mail_fields()); $work("sendmail://default");');
?>
--EXPECT--
the default:
  empty 1 sent; nothing
-i -f club@example.org -- ann@example.net
mailqueue.transport, and an argument, go before it:
  empty 0 sent; nothing
  empty 1 sent; nothing
  ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: it does not begin with a scheme that is known; write smtp://user:password@host:587, smtps://user:password@host:465, lmtp:///run/dovecot/lmtp, sendmail://default, file:///directory, null://null, or a mail API's ses+https://, mailgun+https://, microsoftgraph+https:// or gmail+https://
cannot be it:
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: sendmail:// has no program: set sendmail_path in php.ini, or write sendmail://default?command=/usr/sbin/sendmail%20-t%20-i)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: the command must begin with the program's whole path, such as /usr/sbin/sendmail; no PATH is searched)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: the command has one of | & ; < > ( ) $ ` ~ outside single quotes, and no shell reads it; put it in single quotes, or the command in a script)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: % is not a program that this user may run; name one such as /usr/sbin/sendmail)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: %/mailqueue would put each mail into the queue again; name the program that sends it, such as sendmail://default?command=/usr/sbin/sendmail, or use smtp://)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: %/linked would put each mail into the queue again; name the program that sends it, such as sendmail://default?command=/usr/sbin/sendmail, or use smtp://)
  MailQueue\Exception: No transport: give one, such as "smtp://user:password@host:587", or set the ini setting mailqueue.transport; php.ini's sendmail_path cannot be it (transport: the command has -bs, a program that speaks SMTP; write smtp://localhost, or the command without -bs)
one that is missing is trouble, not an error:
  relay 0 sent; nothing
pending 0
open_basedir is for what a DSN names:
  empty 1 sent; nothing
  ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: open_basedir does not allow %/other; name one that it allows
  ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: open_basedir does not allow %/box; name one that it allows
  empty 1 sent; nothing
disable_functions too:
  ValueError: MailQueue::runWorker(): Argument #1 ($transport) cannot be used: transport: disable_functions in php.ini forbids starting programs (proc_open); remove the option command, then sendmail_path is used
  empty 1 sent; nothing
