--TEST--
Composer: integrations as one package, and each bridge as one of its own, from a path repository
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\missing('/usr/bin/composer');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';

const BRIDGES = ['cakephp', 'core', 'laravel', 'phpmailer', 'symfony', 'wordpress'];

/** Runs Composer with this PHP in a directory; the libraries count as installed. */
function composer(string $directory, string ...$words): string
{
    static $home = null;
    $loaded = [];
    foreach (['phar', 'iconv', 'mbstring', 'intl'] as $name) {
        array_push($loaded, '-d', "extension=$name");
    }
    $process = proc_open([...php_command('-d', 'display_startup_errors=0', ...$loaded),
        '/usr/bin/composer', '--no-ansi', '--no-interaction', ...$words], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, $directory,
        ['COMPOSER_ALLOW_SUPERUSER' => '1', 'COMPOSER_HOME' => $home ??= temporary_directory('composer-home')] + getenv());
    $output = stream_get_contents($pipes[1]);
    return proc_close($process) === 0 ? '' : $output;
}

function project(): string
{
    $directory = temporary_directory('composer');
    file_put_contents("$directory/composer.json", json_encode([
        'repositories' => ['packagist.org' => false],
        'replace' => ['symfony/mailer' => '7.0', 'cakephp/cakephp' => '5.0'],
    ]));
    return $directory;
}

/** Whether Composer's autoloader alone finds the classes. */
function finds(string $directory, string ...$classes): string
{
    $missing = [];
    foreach ($classes as $class) {
        $file = (require "$directory/vendor/autoload.php")->findFile("MailQueue\\Bridge\\$class");
        is_string($file) && is_file($file) || $missing[] = $class;
    }
    return implode(' ', $missing);
}

$root = dirname(__DIR__, 2) . '/integrations';
foreach (['.', ...BRIDGES] as $name) {
    $output = composer("$root/$name", 'validate', '--no-check-publish', '--no-check-version');
    check("$name/composer.json", $output === '', $output);
}

$all = project();
$output = composer($all, 'config', 'repositories.mailqueue', 'path', $root)
    . composer($all, 'require', 'mailqueue/integrations');
check('mailqueue/integrations', $output === '', $output);
echo finds($all, 'Outbox', 'Symfony\\MailQueueSymfonyBundle', 'WordPress\\SettingsPage');

$each = project();
$output = composer($each, 'config', 'repositories.mailqueue', 'path', "$root/*");
foreach (array_diff(BRIDGES, ['core']) as $name) {
    $output .= composer($each, 'require', "mailqueue/bridge-$name");
}
check('each of its own', $output === '', $output);
echo finds($each, 'Outbox', 'CakePHP\\MailQueueTransport', 'Laravel\\MailQueueServiceProvider',
    'PHPMailer\\MailQueuePHPMailer', 'Symfony\\MailQueueTransport', 'WordPress\\SettingsPage');
?>
--EXPECT--
ok   ./composer.json
ok   cakephp/composer.json
ok   core/composer.json
ok   laravel/composer.json
ok   phpmailer/composer.json
ok   symfony/composer.json
ok   wordpress/composer.json
ok   mailqueue/integrations
ok   each of its own
