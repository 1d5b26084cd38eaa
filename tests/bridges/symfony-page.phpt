--TEST--
Symfony: the page in a controller as README.md shows it, with the application's login and roles
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
iconv
intl
ctype
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('/usr/share/php/Symfony/Bundle/SecurityBundle/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require __DIR__ . '/../page/page.inc';

const USES = <<<'PHP'
    namespace App\Controller;
    use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
    use Symfony\Component\HttpFoundation\Response;
    use Symfony\Component\Routing\Annotation\Route;
    final class MailQueueController extends AbstractController
    PHP;
/** The front controller of a new application; only Ann is an administrator. */
const INDEX = <<<'PHP'
    namespace App;

    use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
    use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
    use Symfony\Bundle\SecurityBundle\SecurityBundle;
    use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
    use Symfony\Component\HttpFoundation\Request;
    use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;
    use Symfony\Component\Security\Core\User\InMemoryUser;

    error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
    require '/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php';
    require '/usr/share/php/Symfony/Bundle/SecurityBundle/autoload.php';
    class_exists(\Composer\InstalledVersions::class) || @include '/usr/share/php/Composer/InstalledVersions.php';
    require __DIR__ . '/MailQueueController.php';

    final class Kernel extends \Symfony\Component\HttpKernel\Kernel
    {
        use MicroKernelTrait;

        public function registerBundles(): iterable
        {
            return [new FrameworkBundle(), new SecurityBundle()];
        }

        private function configureContainer(ContainerConfigurator $container): void
        {
            $container->extension('framework', ['secret' => 'x', 'http_method_override' => false, 'router' => ['utf8' => true]]);
            $container->extension('security', (self::MAJOR_VERSION < 6 ? ['enable_authenticator_manager' => true] : []) + [
                'password_hashers' => [InMemoryUser::class => 'plaintext'],
                'providers' => ['users' => ['memory' => ['users' => ['ann' => ['password' => 'x', 'roles' => ['ROLE_ADMIN']],
                    'bob' => ['password' => 'x', 'roles' => ['ROLE_USER']]]]]],
                'firewalls' => ['main' => ['http_basic' => ['realm' => 'site']]]]);
            $container->services()->set(Controller\MailQueueController::class)->autowire()->autoconfigure();
        }

        private function configureRoutes(RoutingConfigurator $routes): void
        {
            $routes->import(Controller\MailQueueController::class, self::MAJOR_VERSION < 6 ? 'annotation' : 'attribute');
        }

        public function getProjectDir(): string
        {
            return __DIR__;
        }
    }

    $kernel = new Kernel('prod', false);
    $request = Request::createFromGlobals();
    $response = $kernel->handle($request);
    $response->send();
    $kernel->terminate($request, $response);
    PHP;

$root = temporary_directory('symfony');
file_put_contents("$root/index.php", "<?php\n" . INDEX);
file_put_contents("$root/MailQueueController.php", "<?php\n" . USES . "\n{\n"
    . readme_page('symfony', '// src/Controller/MailQueueController.php') . "}\n");
$queue = new \MailQueue("$root/app.sqlite");
$queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 'Hi', 'text' => 'x']);
$options = ['-d', "mailqueue.database=$root/app.sqlite", '-d', "error_log=$root/error.log", ...library_extensions()];
[$host] = web_server(php_command(...$options), ["$root/index.php"], ['PATH' => getenv('PATH')] + sanitizer_environment());
const PAGE = '/admin/mailqueue';

$ann = new \Browser($host, ['Authorization' => 'Basic ' . base64_encode('ann:x')]);
echo 'Ann: ', $ann->get(PAGE)->said(), ', ', $ann->text('.user'), ', ',
    preg_match('~id="count-pending">(\d+)<~', $ann->body, $match) ? $match[1] : '?', " pending\n";
check('without a login form', !str_contains($ann->body, 'type="password"'), $ann->body);
check('with its own headers', str_contains($ann->headers['content-security-policy'] ?? '', "default-src 'none'")
    && str_contains($ann->headers['cache-control'] ?? '', 'no-store'), $ann->headers);
echo 'a form: ', $ann->post(['action' => 'switch', 'to' => 'off'], PAGE . '?view=overview', false)->status,
    $queue->stats()->enabled ? ', sends' : ', sends no more', "\n";
echo 'a forged one: ', $ann->get(PAGE, 'POST', 'action=switch&to=on')->status,
    $queue->stats()->enabled ? ', sends' : ', sends no more', "\n";
echo 'a view: ', $ann->get(PAGE . '?view=mails')->said(), "\n";
echo 'the style: ', $ann->get(PAGE . '?view=page.css')->headers['content-type'], "\n";
echo 'Bob: ', (new \Browser($host, ['Authorization' => 'Basic ' . base64_encode('bob:x')]))->get(PAGE)->said(), "\n";
echo 'nobody: ', (new \Browser($host))->get(PAGE)->said(), "\n";
echo preg_replace("/^\\[[^]]*\\] /m", "", file_get_contents("$root/error.log"));
?>
--EXPECT--
Ann: 200 Overview, ann, 1 pending
ok   without a login form
ok   with its own headers
a form: 303, sends no more
a forged one: 403, sends no more
a view: 200 Mails
the style: text/css; charset=utf-8
Bob: 403 You may not see this page. Log in first.
nobody: 403 You may not see this page. Log in first.
mailqueue page: ann: config mailQueueEnabled 0
