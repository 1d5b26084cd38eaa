<?php

declare(strict_types=1);

namespace MailQueue\Cli;

use MailQueue;
use MailQueue\Cli\Command\Adopt;
use MailQueue\Cli\Command\Bounce;
use MailQueue\Cli\Command\Bounces;
use MailQueue\Cli\Command\Campaign;
use MailQueue\Cli\Command\Config;
use MailQueue\Cli\Command\Examine;
use MailQueue\Cli\Command\Forget;
use MailQueue\Cli\Command\Health;
use MailQueue\Cli\Command\JobChanges;
use MailQueue\Cli\Command\Jobs;
use MailQueue\Cli\Command\Log;
use MailQueue\Cli\Command\Login;
use MailQueue\Cli\Command\Mailq;
use MailQueue\Cli\Command\Migrate;
use MailQueue\Cli\Command\MigrateStore;
use MailQueue\Cli\Command\Page;
use MailQueue\Cli\Command\Resend;
use MailQueue\Cli\Command\Send;
use MailQueue\Cli\Command\Sendmail;
use MailQueue\Cli\Command\Stats;
use MailQueue\Cli\Command\Status;
use MailQueue\Cli\Command\Suppress;
use MailQueue\Cli\Command\Verdict;
use MailQueue\Cli\Command\Work;
use MailQueue\Cli\Work\Process;
use MailQueue\Cli\Work\Processes;

/** Runs the command that the command line names; returns the exit code. */
final class Application
{
    /** Class and method of each command. */
    private const METHODS = [
        'work' => [Work::class, 'run'],
        'status' => [Status::class, 'run'],
        'health' => [Health::class, 'run'],
        'stats' => [Stats::class, 'run'],
        'metrics' => [Stats::class, 'metrics'],
        'list' => [Jobs::class, 'list'],
        'show' => [Jobs::class, 'show'],
        'log' => [Log::class, 'run'],
        'retry' => [JobChanges::class, 'retry'],
        'resend' => [Resend::class, 'resend'],
        'uncertain' => [Resend::class, 'uncertain'],
        'hold' => [JobChanges::class, 'hold'],
        'delete' => [JobChanges::class, 'delete'],
        'forget' => [Forget::class, 'run'],
        'suppress' => [Suppress::class, 'run'],
        'campaign' => [Campaign::class, 'run'],
        'bounce' => [Bounce::class, 'run'],
        'bounces' => [Bounces::class, 'run'],
        'config' => [Config::class, 'run'],
        'page' => [Page::class, 'run'],
        'send' => [Send::class, 'run'],
        'sendmail' => [Sendmail::class, 'run'],
        'mailq' => [Mailq::class, 'run'],
        'login' => [Login::class, 'login'],
        'logout' => [Login::class, 'logout'],
        'accounts' => [Login::class, 'accounts'],
        'migrate' => [Migrate::class, 'run'],
        'adopt' => [Adopt::class, 'run'],
        'migrate-store' => [MigrateStore::class, 'run'],
        'verdict' => [Verdict::class, 'run'],
        'doctor' => [Examine::class, 'run'],
    ];

    /** @param list<string> $argv */
    public static function main(array $argv): int
    {
        try {
            $args = new Arguments(self::words($argv));
            if ($args->has('version')) {
                $version = phpversion('mailqueue');
                $asJson = $args->has('json');
                echo $asJson ? Terminal::json(['version' => $version]) : "mailqueue $version", "\n";
                return ExitCode::OK;
            }
            if ($args->has('help')) {
                echo Help::of($args->command);
                return ExitCode::OK;
            }
            if ($args->command === null) {
                throw Stop::usage('No command. mailqueue --help lists them.');
            }
            return self::run($args);
        } catch (\Throwable $e) {
            $isOurs = $e instanceof Stop || $e instanceof MailQueue\Exception
                || $e instanceof \ValueError;
            $kind = $isOurs ? '' : $e::class . ': ';
            return Failure::show($kind . Failure::text($e), Failure::code($e), $argv);
        }
    }

    /**
     * Returns the words after the program's name. For the name sendmail, mailq or newaliases, puts
     * the command and an option of sendmail in front: callers of /usr/sbin/sendmail pass on words
     * of strangers, and after that option none becomes an option of ours.
     *
     * @param list<string> $argv
     * @return list<string>
     */
    private static function words(array $argv): array
    {
        $words = array_slice($argv, 1);
        return match (basename($argv[0] ?? '')) {
            'sendmail' => ['sendmail', '-bm', ...$words],
            'mailq' => ['sendmail', '-bp', ...$words],
            'newaliases' => ['sendmail', '-bi', ...$words],
            default => $words,
        };
    }

    private static function run(Arguments $args): int
    {
        $args->check();
        if ($args->command === 'work' && Processes::count($args) > 1 && !Process::isOne()) {
            return (new Processes($args))->run(); // without a bootstrap file, which the others load
        }
        [$class, $method] = self::METHODS[(string) $args->command];
        $run = [new $class($args, new Settings($args)), $method];
        assert(is_callable($run));
        return $run();
    }
}
