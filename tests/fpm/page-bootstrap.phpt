--TEST--
The page of a bootstrap file's queue in PHP-FPM: the file is used, a syntax error in it is shown
--EXTENSIONS--
mailqueue
posix
--SKIPIF--
<?php require __DIR__ . '/../lib/fpm.inc'; echo MailQueueTest\Fpm::missing(); ?>
--FILE--
<?php
require __DIR__ . '/../lib/fpm.inc';
require __DIR__ . '/../lib/cli.inc';

$fpm = new MailQueueTest\Fpm(['mailqueue.run_dir' => temp_directory()], 1);
(new MailQueue($path = database()))->enqueue(mail_fields());
file_put_contents($file = temp_home() . '/bootstrap.php', "<?php return ['queue' => new MailQueue(" . var_export($path, true) . ')];');
$page = $fpm->page('page', 'require ' . var_export(dirname(__DIR__, 2) . '/web/autoload.php', true) . ';
    MailQueue\Web\Page::of(' . var_export(["--bootstrap=$file"], true) . ', static fn() => "viewer")->handle();');
$get = static fn(string $what): string => $fpm->get($page, ['QUERY_STRING' => $what, 'REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'HTTPS' => 'on']);
$text = $get('');
echo preg_match('/id="count-pending">(\d+)/', $text, $match) ? "$match[1] pending\n" : $text;
file_put_contents($file, '<?php return [;');
preg_match('~Bootstrap file.*?</p>~s', $get(''), $match);
echo str_replace(temp_home(), '~', strip_tags(html_entity_decode($match[0] ?? $get('')))), "\n";
?>
--EXPECT--
1 pending
Bootstrap file ~/bootstrap.php has a syntax error: syntax error, unexpected token ";", expecting "]" on line 1.
