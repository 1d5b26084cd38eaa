--TEST--
Laravel 12: the page in a route as README.md shows it, with the application's login and gate
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
iconv
intl
fileinfo
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('laravel-12/vendor/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require __DIR__ . '/../page/page.inc';

/** The front controller of a new application, without the parts that tools/setup bridges omits. */
const INDEX = <<<'PHP'
    use Illuminate\Foundation\Application;
    use Illuminate\Foundation\Configuration\Middleware;
    use Illuminate\Http\Middleware\HandleCors;
    use Illuminate\Http\Request;
    error_reporting(E_ALL & ~E_DEPRECATED);
    $app = Application::configure(basePath: __DIR__)
        ->withRouting(web: __DIR__ . '/routes/web.php')
        ->withMiddleware(static fn(Middleware $all) => $all->remove(HandleCors::class))
        ->withExceptions()->create();
    $app->handleRequest(Request::capture());
    PHP;
/** Not in the file of the routes, which has only README.md's names. A login by a header; only Ann may see mail. */
const AUTH = <<<'PHP'
    use Illuminate\Auth\GenericUser;
    use Illuminate\Http\Request;
    use Illuminate\Support\Facades\Auth;
    use Illuminate\Support\Facades\Gate;
    Auth::viaRequest('header', static fn(Request $request) => $request->header('X-User') === null ? null
        : new GenericUser(['id' => 1, 'email' => $request->header('X-User')]));
    config(['auth.guards.web' => ['driver' => 'header']]);
    Gate::define('see-mail', static fn(GenericUser $user) => $user->email === 'ann@example.org');
    PHP;

$root = temporary_directory('laravel');
foreach (['routes', 'database', 'bootstrap/cache', 'storage/framework/views', 'storage/logs'] as $directory) {
    mkdir("$root/$directory", recursive: true);
}
$autoload = var_export(library_path('laravel-12/vendor/autoload.php'), true);
[$php85, $clock] = [var_export(__DIR__ . '/php85.inc', true), var_export(__DIR__ . '/clock.inc', true)];
file_put_contents("$root/index.php", "<?php\nrequire $autoload;\nrequire $php85;\nrequire $clock;\n" . INDEX);
file_put_contents("$root/auth.php", "<?php\n" . AUTH);
file_put_contents("$root/routes/web.php", "<?php\nuse Illuminate\Support\Facades\Route;\nrequire __DIR__ . '/../auth.php';\n"
    . readme_page('laravel', '// routes/web.php'));
$queue = new \MailQueue("$root/database/database.sqlite");
$queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 'Hi', 'text' => 'x']);

[$host] = web_server(php_command(...library_extensions()), ["$root/index.php"],
    ['APP_KEY' => 'base64:' . base64_encode(random_bytes(32)), 'SESSION_DRIVER' => 'array', 'CACHE_STORE' => 'array',
        'LOG_CHANNEL' => 'single', 'PATH' => getenv('PATH')] + sanitizer_environment());

$ann = new \Browser($host, ['X-User' => 'ann@example.org']);
echo 'Ann: ', $ann->get('/mailqueue')->said(), ', ', $ann->text('.user'), ', ',
    preg_match('~id="count-pending">(\d+)<~', $ann->body, $match) ? $match[1] : '?', " pending\n";
check('without a login form', !str_contains($ann->body, 'type="password"'), $ann->body);
check('with its own headers', str_contains($ann->headers['content-security-policy'] ?? '', "default-src 'none'"));
echo 'a form: ', $ann->post(['action' => 'switch', 'to' => 'off'], '/mailqueue?view=overview', false)->status,
    $queue->stats()->enabled ? ', sends' : ', sends no more', "\n";
echo 'a forged one: ', $ann->get('/mailqueue', 'POST', 'action=switch&to=on')->status,
    $queue->stats()->enabled ? ', sends' : ', sends no more', "\n";
echo 'a view: ', $ann->get('/mailqueue?view=mails')->said(), "\n";
echo 'Bob: ', (new \Browser($host, ['X-User' => 'bob@example.org']))->get('/mailqueue')->said(), "\n";
echo 'nobody: ', (new \Browser($host, ['Accept' => 'application/json']))->get('/mailqueue')->status, "\n";
echo @file_get_contents("$root/storage/logs/laravel.log");
?>
--EXPECT--
Ann: 200 Overview, ann@example.org, 1 pending
ok   without a login form
ok   with its own headers
a form: 303, sends no more
a forged one: 403, sends no more
a view: 200 Mails
Bob: 403 You may not see this page. Log in first.
nobody: 401
