<?php

declare(strict_types=1);

namespace MailQueue\Web;

use MailQueue;
use MailQueue\Cli\Bounce\Event;
use MailQueue\Cli\Bounce\Recorder;
use MailQueue\Cli\Terminal;
use MailQueue\MessageException;
use MailQueue\Web\Webhook\Mailgun;
use MailQueue\Web\Webhook\Postmark;
use MailQueue\Web\Webhook\Service;
use MailQueue\Web\Webhook\Sns;

/**
 * Where Amazon SES (over SNS), Mailgun and Postmark report bounces, complaints and unsubscriptions.
 * Only what a service has signed is taken, or what has the secret where it does not sign.
 *
 *     (new MailQueue\Web\Webhook($queue, ['postmark' => getenv('POSTMARK_SECRET')]))->handle();
 */
final class Webhook
{
    /** SNS sends at most 256 KiB, of which JSON may escape each octet; Postmark a whole bounce. */
    private const BODY_MAX = 2_097_152;
    private const DEPTH_MAX = 32;
    private const SERVICES = ['sns' => Sns::class, 'mailgun' => Mailgun::class,
        'postmark' => Postmark::class];

    /** @var array<string, Service> */
    private readonly array $services;

    /**
     * @param MailQueue|\Closure(): MailQueue $queue a Closure is called if there is an event
     * @param array<string, mixed> $services 'sns': the ARN of the topic, or a list of them;
     *     'mailgun': the HTTP webhook signing key; 'postmark': "user:password", as in the
     *     webhook's URL or in its header X-Webhook-Secret
     * @param string|null $cafile a PEM file for the requests to AWS; null: the system's
     * @param string|null $proxy of these requests, such as http://proxy.example.org:3128
     * @throws \ValueError if a service is unknown or its secret is missing
     */
    public function __construct(
        #[\SensitiveParameter] private readonly MailQueue|\Closure $queue,
        #[\SensitiveParameter] array $services,
        ?string $cafile = null,
        ?string $proxy = null,
    ) {
        $made = [];
        foreach ($services as $name => $setting) {
            $made[$name] = match ($name) {
                'sns' => new Sns($setting, new Webhook\Amazon($cafile, $proxy)),
                'mailgun' => new Mailgun($setting),
                'postmark' => new Postmark($setting),
                default => throw new \ValueError('There is no service "' . Terminal::safe($name)
                    . '"; known are ' . implode(', ', array_keys(self::SERVICES)) . '.'),
            };
        }
        $this->services = $made ?: throw new \ValueError('Name a service: '
            . implode(', ', array_keys(self::SERVICES)) . '.');
    }

    /** @return array<string, mixed> without $queue, as a Closure can hold its password */
    public function __debugInfo(): array
    {
        return ['services' => $this->services];
    }

    /** Answers the request that PHP has. */
    public function handle(): void
    {
        Php::hideErrors();
        $this->respond()->send();
    }

    /** The same as an object, for frameworks that send responses themselves. */
    public function respond(?Request $request = null): Response
    {
        try {
            [$status, $text] = [200, $this->answer($request ?? Request::fromGlobals())];
        } catch (Refusal $e) {
            [$status, $text] = [$e->status, $e->getMessage()];
            in_array($status, [403, 503], true) && Php::log("mailqueue webhook: $text");
        } catch (\Throwable $e) {
            Php::log('mailqueue webhook: ' . Terminal::safe($e->getMessage()));
            [$status, $text] = [503, 'Nothing is stored: try again later.'];
        }
        return new Response("$text\n", $status, ['Content-Type' => 'text/plain; charset=utf-8']
            + ($status === 405 ? ['Allow' => 'POST'] : []));
    }

    private function answer(Request $request): string
    {
        $request->isPost() || throw new Refusal('This address takes POST only.', 405);
        $body = json_decode($request->body(self::BODY_MAX), true, self::DEPTH_MAX);
        foreach (is_array($body) ? self::SERVICES : [] as $name => $class) {
            if ($class::isItsShape($body)) {
                $service = $this->services[$name]
                    ?? throw new Refusal("This webhook is not set up for $name.", 403);
                return $this->store($service->events($body, $request));
            }
        }
        throw new Refusal('This is not an event of a service that is known here.', 400);
    }

    /** @param list<Event> $events */
    private function store(array $events): string
    {
        $recorder = null;
        foreach ($events as $event) {
            $recorder ??= new Recorder(
                $this->queue instanceof \Closure ? ($this->queue)() : $this->queue
            );
            try {
                $recorder->record($event);
            } catch (MessageException | \ValueError $e) { // the same event would fail again
                Php::log("mailqueue webhook: $event->source: " . Terminal::safe($e->getMessage()));
            }
        }
        return $events === [] ? 'Nothing to do.' : 'Done.';
    }
}
