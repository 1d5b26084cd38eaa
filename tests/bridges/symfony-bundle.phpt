--TEST--
Symfony: the bundle makes MAILER_DSN=mailqueue://default work in a kernel, with the container's log, events and queue
--EXTENSIONS--
mailqueue
pdo_sqlite
posix
mbstring
iconv
intl
ctype
--INI--
error_reporting=E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED
--SKIPIF--
<?php
require __DIR__ . '/bridge.inc';
echo MailQueueTest\library_missing('/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php');
?>
--FILE--
<?php
namespace MailQueueTest;
require __DIR__ . '/bridge.inc';
require '/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php';
require '/usr/share/php/Symfony/Component/Mailer/autoload.php';
// Symfony 6 asks Composer which packages exist; an application has this class in its vendor/.
class_exists(\Composer\InstalledVersions::class) || @include '/usr/share/php/Composer/InstalledVersions.php';
require __DIR__ . '/psr.inc';

use MailQueue\Bridge\Symfony\MailQueueSymfonyBundle;
use MailQueue\Enqueuer;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Mailer\MailerInterface;
use Symfony\Component\Mime\Email;

final class App extends Kernel
{
    private string $directory;

    public function __construct(string $name, private ?string $dsn, private bool $queue)
    {
        $this->directory = temporary_directory($name);
        parent::__construct($name, false);
    }

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new MailQueueSymfonyBundle()];
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', ['secret' => 'x', 'http_method_override' => false]
                + ($this->dsn === null ? [] : ['mailer' => ['dsn' => $this->dsn]]));
            $container->register('logger', Log::class)->setPublic(true);
            if ($this->queue) {
                $container->register(Enqueuer::class, FakeQueue::class)->setPublic(true);
            }
            if ($this->dsn !== null) {
                $container->setAlias('test.mailer', MailerInterface::class)->setPublic(true);
            }
        });
    }

    public function getProjectDir(): string
    {
        return $this->directory;
    }
}

function app(string $name, ?string $dsn, bool $queue = false): App
{
    $app = new App($name, $dsn, $queue);
    $app->boot();
    return $app;
}

$mail = (new Email())->from('me@example.org')->to('you@example.net')->subject('Hi')->text('Hi');
$database = bridge_database();
$container = app('own', "mailqueue://default?database=$database&type=web")->getContainer();
$container->get('test.mailer')->send($mail);
[$job] = (new \MailQueue($database))->jobs();
echo $job->type, ' ', implode(' ', $job->recipients), "\n";
check('the log is told', str_contains($container->get('logger')->text(),
    "info: Mail queued as job $job->id for 1 recipients"));

$app = app('service', 'mailqueue://default', queue: true);
$app->getContainer()->get('test.mailer')->send($mail);
echo count($app->getContainer()->get(Enqueuer::class)->calls), " in the application's queue\n";

try {
    app('empty', 'mailqueue://default')->getContainer()->get('test.mailer')->send($mail);
} catch (\Symfony\Component\Mailer\Exception\TransportException $e) {
    echo preg_replace('/: set it.*/', '', $e->getMessage()), "\n";
}
app('without', null);
echo "an application without a mailer boots\n";
?>
--EXPECT--
web you@example.net
ok   the log is told
1 in the application's queue
Cannot queue the mail: The ini setting mailqueue.database is empty
an application without a mailer boots
