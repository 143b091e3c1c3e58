/**
 * The replication of a bucket: its target and rules, what is acknowledged here and not there yet, and what was given up.
 */
import { useEffect, useState } from 'preact/hooks'
import { isPaused } from '../../forms/replication-form.ts'
import { Badge, Button, Card, FactList, Loaded, Notice, Time } from '../../parts/basics.tsx'
import { Table } from '../../parts/table.tsx'
import { bucketName } from '../../state/bucket-data.ts'
import { type Replication, replication, type ReplicationStatus } from '../../state/rule-data.ts'
import { bytes, count, duration, time } from '../../words/format.ts'
import { TEXT } from '../../words/strings.ts'
import { Compare } from './compare-dialog.tsx'
import {
  ChangeSites,
  EditSiteRule,
  EndReplication,
  RemoveSiteRule,
  SetTarget,
  type SiteChange,
} from './replication-dialogs.tsx'
import { type RuleChange, SiteRules } from './site-rules.tsx'

const SAYS = TEXT.replication

type Open = SiteChange | 'target' | 'compare' | 'end' | RuleChange

export function ReplicationTab({ bucket }: { readonly bucket: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    bucketName.value = bucket
    replication.forget()
    void replication.load()
  }, [bucket])
  const close = (): void => {
    setOpen(null)
    void replication.load()
  }
  return (
    <Loaded of={replication}>
      {({ site }) =>
        site === null ? (
          <Unset bucket={bucket} isOpen={open === 'target'} onOpen={setOpen} onClose={close} />
        ) : (
          <>
            <Behind status={site.status} onOpen={setOpen} />
            <Setting setting={site.setting} onOpen={setOpen} />
            {site.status.failures.length === 0 ? null : (
              <Failures failures={site.status.failures} onOpen={setOpen} />
            )}
            {open === null ? null : (
              <Opened open={open} bucket={bucket} setting={site.setting} onClose={close} />
            )}
          </>
        )
      }
    </Loaded>
  )
}

function Unset({
  bucket,
  isOpen,
  onOpen,
  onClose,
}: Opens & { readonly bucket: string; readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Card
      title={SAYS.title}
      actions={
        <Button kind="primary" onClick={() => onOpen('target')}>
          {SAYS.set}
        </Button>
      }
    >
      <p class="soft">{SAYS.none}</p>
      {isOpen ? <SetTarget bucket={bucket} present={null} onClose={onClose} /> : null}
    </Card>
  )
}

function Opened({
  open,
  bucket,
  setting,
  onClose,
}: {
  readonly open: Open
  readonly bucket: string
  readonly setting: Replication
  readonly onClose: () => void
}) {
  if (open === 'target') return <SetTarget bucket={bucket} present={setting} onClose={onClose} />
  if (open === 'compare') return <Compare bucket={bucket} onClose={onClose} />
  if (open === 'end') return <EndReplication bucket={bucket} onClose={onClose} />
  if (typeof open === 'object')
    return open.rule === 'remove' ? (
      <RemoveSiteRule bucket={bucket} present={setting} at={open.at} onClose={onClose} />
    ) : (
      <EditSiteRule bucket={bucket} present={setting} at={open.at} onClose={onClose} />
    )
  return <ChangeSites bucket={bucket} present={setting} change={open} onClose={onClose} />
}

interface Opens {
  readonly onOpen: (open: Open) => void
}

function Behind({ status, onOpen }: Opens & { readonly status: ReplicationStatus }) {
  const { pending, pendingBytes, unreachableSince, nextAttemptAt, lastError, resync } = status
  return (
    <Card
      title={SAYS.state}
      actions={
        <>
          <Button onClick={() => onOpen('compare')}>{SAYS.compare}</Button>
          <Button onClick={() => onOpen('resync')}>{SAYS.resync}</Button>
          <Button onClick={() => void replication.load()}>{TEXT.refresh}</Button>
        </>
      }
    >
      <div class="stack">
        <Notice
          tone={pending === 0 ? 'good' : 'info'}
          title={pending === 0 ? SAYS.isWhole : SAYS.isBehind(count(pending), bytes(pendingBytes))}
        />
        {unreachableSince === null ? null : (
          <Notice tone="bad" title={SAYS.unreachable}>
            <p>
              <Time iso={unreachableSince} />
              {nextAttemptAt === null ? null : (
                <>
                  . {SAYS.nextAttempt}: <Time iso={nextAttemptAt} />
                </>
              )}
            </p>
            {lastError === null ? null : <p>{lastError}</p>}
          </Notice>
        )}
        <Figures status={status} />
        {resync === null ? null : (
          <p class="soft">
            {resync.endedAt === null
              ? SAYS.resyncRuns(time(resync.startedAt), count(resync.queued))
              : SAYS.resyncEnded(time(resync.endedAt), count(resync.queued))}
          </p>
        )}
      </div>
    </Card>
  )
}

function Figures({ status }: { readonly status: ReplicationStatus }) {
  const { pending, pendingBytes, lagSeconds, failed, sent, sentBytes } = status
  const rest: readonly (readonly [string, number])[] = [
    [SAYS.conflicts, status.conflicts],
    [SAYS.notReplicable, status.notReplicable],
    [SAYS.dropped, status.dropped],
  ]
  return (
    <FactList
      rows={[
        [SAYS.pending, count(pending)],
        [SAYS.pendingBytes, bytes(pendingBytes)],
        [SAYS.lag, pending === 0 ? SAYS.noLag : duration(lagSeconds)],
        [SAYS.failed, failed === 0 ? count(0) : <Badge tone="bad">{count(failed)}</Badge>],
        [SAYS.sent, count(sent)],
        [SAYS.sentBytes, bytes(sentBytes)],
        [SAYS.lastSent, <Time iso={status.lastSentAt} />],
        ...rest.filter(([, value]) => value > 0).map(([name, value]) => [name, count(value)] as const),
      ]}
    />
  )
}

function Setting({ setting, onOpen }: Opens & { readonly setting: Replication }) {
  const { target, rules, ofTenant, updatedAt } = setting
  const paused = isPaused(rules)
  return (
    <Card
      title={SAYS.title}
      actions={
        ofTenant ? null : (
          <>
            <Button onClick={() => onOpen('test')}>{SAYS.test}</Button>
            <Button onClick={() => onOpen('target')}>{SAYS.change}</Button>
            <Button onClick={() => onOpen(paused ? 'resume' : 'pause')}>
              {paused ? SAYS.resume : SAYS.pause}
            </Button>
            <Button onClick={() => onOpen('end')}>{SAYS.end}</Button>
          </>
        )
      }
    >
      <div class="stack">
        {ofTenant ? <Notice tone="info" title={SAYS.ofTenant} /> : null}
        {paused ? <Notice tone="warn" title={SAYS.paused} /> : null}
        <FactList
          rows={[
            [SAYS.target, <span class="code">{target.endpoint}</span>],
            [SAYS.bucketThere, <span class="code">{target.bucket}</span>],
            [SAYS.key, <span class="code">{target.accessKeyId}</span>],
            [TEXT.objects.changed, <Time iso={updatedAt} />],
          ]}
        />
        <SiteRules rules={rules} onOpen={ofTenant ? null : onOpen} />
      </div>
    </Card>
  )
}

function Failures({ failures, onOpen }: Opens & { readonly failures: ReplicationStatus['failures'] }) {
  return (
    <Card title={SAYS.failures} actions={<Button onClick={() => onOpen('retry')}>{SAYS.retry}</Button>}>
      <p class="soft">{SAYS.firstFailures}</p>
      <Table
        label={SAYS.failures}
        empty=""
        keyOf={({ kind, key, versionId }) => `${kind} ${key} ${versionId}`}
        rows={failures}
        columns={[
          { head: SAYS.objectKey, cell: ({ key }) => <span class="code">{key}</span> },
          { head: SAYS.kind, cell: ({ kind }) => SAYS.kinds[kind] },
          { head: SAYS.attempts, cell: ({ attempts }) => count(attempts), isFigure: true, isMinor: true },
          { head: SAYS.lastError, cell: ({ error }) => error ?? '' },
        ]}
      />
    </Card>
  )
}
