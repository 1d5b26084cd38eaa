<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue;
use MailQueue\Web\Refusal;
use MailQueue\Web\Response;

/** Changes the settings in the database. */
final class Config extends Action
{
    public function switch(): Response
    {
        $to = $this->context->request->field('to');
        if (!in_array($to, ['on', 'off'], true)) {
            throw new Refusal($this->t('Sending can be "on" or "off". Nothing was changed.'));
        }
        $this->write('mailQueueEnabled', $to === 'on' ? '1' : '0');
        return $this->context->done($to);
    }

    public function limit(): Response
    {
        $limit = $this->context->request->field('limit') ?? '';
        $most = (int) preg_replace('/.* /', '', MailQueue::configKeys()['mailMaxPerHour']['range']);
        if ($limit !== 'none' && (!preg_match('/\A\d{1,18}\z/', $limit)
            || (int) $limit < 1 || (int) $limit > $most)) { // 0 would be none: say it in words
            throw new Refusal($this->t('The limit must be a whole number from 1 to %s, not "%s". '
                . 'To send without one, remove the limit. Nothing was changed.', $most, $limit));
        }
        $this->write('mailMaxPerHour', $limit === 'none' ? null : $limit);
        return $this->context->done('set');
    }

    public function redirect(): Response
    {
        $this->write('mailRedirectTo', $this->context->request->field('to')
            ?? throw new Refusal($this->t('The test mode needs an address, or @domain. Nothing was '
                . 'changed.')));
        return $this->context->done('set');
    }

    public function redirectOff(): Response
    {
        foreach (MailQueue::configKeys() as $key => $about) {
            $isOne = $key === 'mailRedirectTo' || $about['aliasOf'] === 'mailRedirectTo';
            !$isOne || $this->context->queue->config($key) === null || $this->write($key, null);
        }
        return $this->context->done('set');
    }

    public function set(): Response
    {
        $key = $this->context->request->field('key') ?? '';
        $about = MailQueue::configKeys()[$key] ?? null;
        if ($about === null || $about['internal']) {
            throw new Refusal($this->t('There is no setting "%s" that can be changed here. Nothing '
                . 'was changed.', $key));
        }
        $this->write($key, $this->context->request->field('value'));
        return $this->context->done('set');
    }

    private function write(string $key, ?string $value): void
    {
        $this->context->queue->setConfig($key, $value);
        $this->note($value === null ? "config --unset $key" : "config $key $value");
    }
}
