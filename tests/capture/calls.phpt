--TEST--
mail() is captured however it is called, where php.ini says so, and nowhere else
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with the handlers never put in place, the ini setting not asked for, and mail of the
// worker captured.

const CAPTURED = <<<'CODE'
    namespace App\Mail {
        const MAIL = ['a@example.net', 'x', 'y', 'From: b@example.org'];
        function send(): array
        {
            return [mail(...MAIL), \mail(...MAIL), \mb_send_mail(...MAIL)];
        }
    }
    namespace {
        use function mail as post;

        final class Mailer
        {
            public function __call(string $name, array $arguments): bool
            {
                return $name(...$arguments);
            }
        }
        $mail = App\Mail\MAIL;
        $closure = mail(...);
        $results = [
            ...App\Mail\send(), post(...$mail), call_user_func('mail', ...$mail), call_user_func_array('\mail', $mail),
            'mail'(...$mail), $closure(...$mail), Closure::fromCallable('MAIL')(...$mail), (new Mailer())->mail(...$mail),
            (new ReflectionFunction('mail'))->invoke(...$mail), (new ReflectionFunction('mail'))->invokeArgs($mail),
            ...array_map('mail', ['a@example.net'], ['x'], ['y'], ['From: b@example.org']), eval('return mail(...$mail);'),
            (fn() => mail(additional_headers: $mail[3], message: 'y', subject: 'x', to: $mail[0]))(),
        ];
        $generator = (function () use ($mail) { yield mail(...$mail); })();
        $fiber = new Fiber(fn() => mail(...$mail));
        $fiber->start();
        array_push($results, $generator->current(), $fiber->getReturn());
        register_shutdown_function(function () use ($mail, $argv): void {
            mail(...$mail);
            ob_start(function (string $text) use ($mail, $argv): string {
                mail(...$mail);
                return $text . (new MailQueue($argv[1]))->stats()->pending . " with those of the end\n";
            });
        });
        $different = array_keys(array_filter($results, fn($result) => $result !== true));
        echo count($results), ' calls, not true: ', json_encode($different), ', queued: ',
            (new MailQueue($argv[1]))->stats()->pending, "\n";
    }
    CODE;

function run(string $title, array $settings, string $code = CAPTURED): void
{
    $path = database();
    $settings += ['mailqueue.capture_mail' => 1, 'mailqueue.database' => $path, 'sendmail_path' => 'cat >/dev/null; echo sent by sendmail >&2'];
    echo "$title: ", output_of($code, $settings, $path);
}

run('captured', []);
$script = temp_directory() . '/script.php';
file_put_contents($script, '<?php ' . CAPTURED);
foreach (['plain' => 0, 'with the optimizer' => 1] as $title => $level) {
    // With opcache if it exists, otherwise the same again.
    $opcache = is_file(ini_get('extension_dir') . '/opcache.so')
        ? ['zend_extension' => 'opcache', 'opcache.enable_cli' => 1, 'opcache.file_update_protection' => 0,
            'opcache.optimization_level' => $level ? '0x7FFEBFFF' : 0,
            'opcache.jit_buffer_size' => '16M', 'opcache.jit' => $level ? 'function' : 'disable', 'opcache.jit_hot_func' => 1]
        : [];
    run("opcache, $title", $opcache, 'require ' . var_export($script, true) . ';');
}

$one = '$mail = ["a@example.net", "x", "y", "From: b@example.org"];
    var_dump(mail(...$mail), mb_send_mail(...$mail));
    echo MailQueue::default()->stats()->pending, " queued\n";';
echo "\n";
run('off', ['mailqueue.capture_mail' => 0], $one);
run('not at run time', ['mailqueue.capture_mail' => 0], 'var_dump(ini_set("mailqueue.capture_mail", "1"), ini_set("mailqueue.capture_failure", "send"));' . $one);
run('not switched off at run time', [], 'var_dump(ini_set("mailqueue.capture_mail", "0"));' . $one);
run('where it may be set', [], 'foreach (["mail", "failure"] as $name) {
    echo ini_get_all("mailqueue")["mailqueue.capture_$name"]["access"] === (INI_SYSTEM | INI_PERDIR) ? "php.ini, .user.ini, pools\n" : "?\n";
}');
run('default', [], 'preg_match("/^mailqueue.capture_mail => (\w+)/m", shell_exec(PHP_BINARY . " -n -d extension=" . getenv("MAILQUEUE_SO") . " --ri mailqueue"), $m); echo "$m[1]\n";');

echo "\n";
$disabled = 'foreach (["mail", "mb_send_mail"] as $f) {
        try { var_dump(function_exists($f)); $f("a@example.net", "x", "y", "From: b@example.org"); } catch (Error $e) { echo $e->getMessage(), "\n"; }
    }
    echo MailQueue::default()->stats()->pending, " queued\n";';
run('disabled', ['disable_functions' => 'mail'], $disabled);
run('disabled too', ['disable_functions' => 'mb_send_mail, mail'], $disabled);

echo "\n";
/* error_log() hands the text to PHP's mail code directly: that is not a call of mail(). */
run('error_log()', [], 'var_dump(error_log("text", 1, "a@example.net", "From: b@example.org"));
    echo MailQueue::default()->stats()->pending, " queued\n";');

/* Mail that the worker itself sends by mail() must not come back to it. */
run('by the worker', [], '$mail = ["a@example.net", "x", "y", "From: b@example.org"];
    mail(...$mail);
    $report = MailQueue::default()->runWorker(function () use ($mail): void {
        echo json_encode((fn() => mail(...$mail))()), " ", json_encode(mb_send_mail(...$mail)), "\n";
    }, log: "");
    echo "$report->sent sent, ", MailQueue::default()->stats()->pending, " queued\n";
    putenv("MAILQUEUE_TRANSPORT_DEPTH=1");
    echo json_encode(mail(...$mail)), ", ", MailQueue::default()->stats()->pending, " queued\n";
    putenv("MAILQUEUE_TRANSPORT_DEPTH");
    echo json_encode(mail(...$mail)), ", ", MailQueue::default()->stats()->pending, " queued\n";');

echo "\n";
/* Above, mbstring is loaded before mailqueue; here after it. */
$extension = getenv('MAILQUEUE_SO') ?: 'mailqueue';
foreach (['mbstring after it' => ['mbstring'], 'no mbstring' => []] as $title => $names) {
    $command = [PHP_BINARY, '-n', '-d', "extension=$extension", '-d', 'mailqueue.capture_mail=1',
        '-d', 'mailqueue.database=' . database()];
    foreach ($names as $name) {
        $shared = is_file(ini_get('extension_dir') . "/$name.so");
        array_push($command, ...($shared ? ['-d', "extension=$name"] : []));
    }
    $code = $names ? $one : str_replace(', mb_send_mail(...$mail)', '', $one);
    $process = proc_open([...$command, '-r', $code], [1 => ['pipe', 'w']], $pipes);
    echo "$title: ", stream_get_contents($pipes[1]);
    proc_close($process);
}
?>
--EXPECT--
captured: 17 calls, not true: [], queued: 17
19 with those of the end
opcache, plain: 17 calls, not true: [], queued: 17
19 with those of the end
opcache, with the optimizer: 17 calls, not true: [], queued: 17
19 with those of the end

off: sent by sendmail
sent by sendmail
bool(true)
bool(true)
0 queued
not at run time: bool(false)
bool(false)
sent by sendmail
sent by sendmail
bool(true)
bool(true)
0 queued
not switched off at run time: bool(false)
bool(true)
bool(true)
2 queued
where it may be set: php.ini, .user.ini, pools
php.ini, .user.ini, pools
default: Off

disabled: bool(false)
Call to undefined function mail()
bool(true)
1 queued
disabled too: bool(false)
Call to undefined function mail()
bool(false)
Call to undefined function mb_send_mail()
0 queued

error_log(): sent by sendmail
bool(true)
0 queued
by the worker: sent by sendmail
true sent by sendmail
true
1 sent, 0 queued
sent by sendmail
true, 0 queued
true, 1 queued

mbstring after it: bool(true)
bool(true)
2 queued
no mbstring: bool(true)
1 queued
