/**
 * The webhooks of a bucket: the address and events of each, its state, a test of it, and its deliveries.
 */
import { useEffect, useState } from 'preact/hooks'
import { webhookFormOf } from '../../forms/webhook-form.ts'
import { Badge, Button, Card, Loaded, Notice, RowButton } from '../../parts/basics.tsx'
import { bucketName } from '../../state/bucket-data.ts'
import { deliveries, type Webhook, webhooks } from '../../state/rule-data.ts'
import { count } from '../../words/format.ts'
import { TEXT } from '../../words/strings.ts'
import { Deliveries } from './deliveries.tsx'
import { EditWebhook, RemoveWebhook, TestWebhook } from './webhook-dialogs.tsx'

const SAYS = TEXT.webhooks

type Open = { readonly kind: 'edit' | 'remove' | 'test'; readonly at: number | null }

export function WebhooksTab({ bucket }: { readonly bucket: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    bucketName.value = bucket
    for (const one of [webhooks, deliveries]) {
      one.forget()
      void one.load()
    }
  }, [bucket])
  const close = (): void => {
    setOpen(null)
    void webhooks.load()
    void deliveries.load()
  }
  return (
    <>
      <Card
        title={SAYS.title}
        actions={
          <Button kind="primary" onClick={() => setOpen({ kind: 'edit', at: null })}>
            {SAYS.add}
          </Button>
        }
      >
        <Loaded of={webhooks}>
          {(hooks) => (
            <>
              {hooks.length === 0 ? <p class="soft empty">{SAYS.none}</p> : null}
              <ul class="rules" aria-label={SAYS.title}>
                {hooks.map((hook, at) => (
                  <One key={hook.id} hook={hook} onOpen={(kind) => setOpen({ kind, at })} />
                ))}
              </ul>
              {open === null ? null : <Opened open={open} bucket={bucket} hooks={hooks} onClose={close} />}
            </>
          )}
        </Loaded>
      </Card>
      <Deliveries bucket={bucket} />
    </>
  )
}

function Opened({
  open: { kind, at },
  bucket,
  hooks,
  onClose,
}: {
  readonly open: Open
  readonly bucket: string
  readonly hooks: readonly Webhook[]
  readonly onClose: () => void
}) {
  const hook = at === null ? undefined : hooks[at]
  if (kind === 'edit') {
    const form = hook === undefined ? null : webhookFormOf(hook)
    return <EditWebhook bucket={bucket} hooks={hooks} at={at} form={form} onClose={onClose} />
  }
  if (hook === undefined || at === null) return null
  return kind === 'test' ? (
    <TestWebhook bucket={bucket} id={hook.id} onClose={onClose} />
  ) : (
    <RemoveWebhook bucket={bucket} hooks={hooks} at={at} onClose={onClose} />
  )
}

function One({ hook, onOpen }: { readonly hook: Webhook; readonly onOpen: (kind: Open['kind']) => void }) {
  const { id, url, events, prefix, suffix, suspended, suspensionReason, enabled } = hook
  const figures: readonly (readonly [string, number])[] = [
    [SAYS.pending, hook.pendingCount],
    [SAYS.dead, hook.deadCount],
    [SAYS.dropped, hook.droppedCount],
  ]
  return (
    <li>
      <div class="head">
        <b>{id}</b>
        <Badge tone={suspended ? 'bad' : enabled ? 'good' : 'quiet'}>
          {suspended ? SAYS.suspended : enabled ? TEXT.rules.enabled : TEXT.rules.disabled}
        </Badge>
        <RowButton text={SAYS.test} of={id} onClick={() => onOpen('test')} />
        <RowButton text={TEXT.rules.edit} of={id} onClick={() => onOpen('edit')} />
        <RowButton text={TEXT.rules.remove} of={id} onClick={() => onOpen('remove')} />
      </div>
      <p class="code">{url}</p>
      <p class="soft">
        {[
          SAYS.of(events.map((event) => SAYS.eventNames[event])),
          ...(prefix === '' ? [] : [SAYS.begins(prefix)]),
          ...(suffix === '' ? [] : [SAYS.ends(suffix)]),
        ].join(', ')}
      </p>
      {suspended ? <Notice tone="bad" title={suspensionReason} /> : null}
      <p class="soft">{figures.map(([name, value]) => `${name}: ${count(value)}`).join(' · ')}</p>
    </li>
  )
}
