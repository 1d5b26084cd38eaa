<?php

declare(strict_types=1);

namespace MailQueue\Web\Action;

use MailQueue\MessageException;
use MailQueue\Web\Refusal;
use MailQueue\Web\Response;

/** Adds and removes suppressions. */
final class Suppressions extends Action
{
    public function add(): Response
    {
        $address = $this->address();
        $reason = $this->context->request->field('reason') ?? 'manual';
        $scope = $this->context->request->field('scope');
        $by = "page ({$this->context->user})";
        $this->try(fn () => $this->context->queue->suppress($address, $reason, $scope, $by));
        $this->note("suppress add $address --reason $reason"
            . ($scope === null ? '' : " --scope $scope"));
        return $this->context->done('suppress');
    }

    public function remove(): Response
    {
        $address = $this->address();
        $reason = $this->context->request->field('reason');
        $scope = $this->context->request->field('scope') ?? '';
        $this->try(fn () => $this->context->queue->unsuppress($address, $scope, $reason));
        $this->note("suppress remove $address --reason $reason"
            . ($scope === '' ? '' : " --scope $scope"));
        return $this->context->done('unsuppress');
    }

    private function try(\Closure $change): void
    {
        try {
            $change();
        } catch (MessageException $e) {
            throw new Refusal((string) preg_replace('/\Aaddress: /', '', $e->getMessage()));
        }
    }

    private function address(): string
    {
        return $this->context->request->field('address')
            ?? throw new Refusal($this->t('Give an address. Nothing was changed.'));
    }
}
