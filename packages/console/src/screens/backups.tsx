/**
 * Backups: where they go, when they are made, whether the last one was good, and what a target holds.
 */
import { useEffect, useState } from 'preact/hooks'
import type { BackupSchedule, BackupTarget } from '../../../client/src/admin.ts'
import { Badge, Button, Card, FactList, Loaded, RowButton, Time } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { backupPlans, backupsOfTarget, backupTarget, type HeldBackup } from '../state/backup-data.ts'
import { linkTo } from '../state/route.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { BackUp, RemoveSchedule, VerifyBackup } from './backup-dialogs.tsx'

const SAYS = TEXT.backups

type Open =
  | { readonly kind: 'back-up' }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'verify'; readonly backupId: string }

export function Backups() {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => void backupPlans.load(), [])
  const close = (): void => {
    setOpen(null)
    void backupPlans.load()
    if (backupTarget.peek() !== '') void backupsOfTarget.load()
  }
  return (
    <>
      <Loaded of={backupPlans}>
        {({ targets, schedules }) => (
          <>
            <Schedules schedules={schedules} onRemove={(name) => setOpen({ kind: 'remove', name })} />
            <Targets targets={targets} onBackUp={() => setOpen({ kind: 'back-up' })} />
          </>
        )}
      </Loaded>
      <Held onVerify={(backupId) => setOpen({ kind: 'verify', backupId })} />
      {open?.kind === 'back-up' ? <BackUp onClose={close} /> : null}
      {open?.kind === 'remove' ? <RemoveSchedule name={open.name} onClose={close} /> : null}
      {open?.kind === 'verify' ? (
        <VerifyBackup target={backupTarget.value} backupId={open.backupId} onClose={close} />
      ) : null}
    </>
  )
}

function Schedules({
  schedules,
  onRemove,
}: {
  readonly schedules: readonly BackupSchedule[]
  readonly onRemove: (name: string) => void
}) {
  return (
    <Card title={SAYS.schedules}>
      <Table
        label={SAYS.schedules}
        empty={SAYS.noSchedules}
        keyOf={({ name }) => name}
        rows={schedules}
        columns={[
          { head: TEXT.tenants.name, cell: ({ name }) => <b>{name}</b> },
          { head: SAYS.when, cell: ({ when }) => <span class="code">{when}</span>, isMinor: true },
          { head: SAYS.target, cell: ({ target }) => target, isMinor: true },
          { head: SAYS.next, cell: ({ nextRunAt }) => <Time iso={nextRunAt} />, isMinor: true },
          { head: SAYS.lastGood, cell: ({ lastGood }) => <Time iso={lastGood?.endedAt ?? null} /> },
          { head: TEXT.operations.status, cell: (schedule) => <ScheduleState schedule={schedule} /> },
          {
            head: TEXT.tenants.change,
            cell: ({ name }) => (
              <RowButton
                needs="deleteBackupSchedule"
                text={SAYS.remove}
                of={name}
                onClick={() => onRemove(name)}
              />
            ),
          },
        ]}
      />
    </Card>
  )
}

function ScheduleState({ schedule: { paused, run, last } }: { readonly schedule: BackupSchedule }) {
  if (run !== null) return <Badge tone="info">{TEXT.status.running}</Badge>
  if (paused) return <Badge tone="warn">{TEXT.status.paused}</Badge>
  if (last === null) return <Badge tone="quiet">{TEXT.never}</Badge>
  return (
    <>
      <Badge tone={last.outcome === 'succeeded' ? 'good' : 'bad'}>{TEXT.status[last.outcome]}</Badge>
      {last.error === null ? null : <p class="soft">{last.error}</p>}
    </>
  )
}

function Targets({
  targets,
  onBackUp,
}: {
  readonly targets: readonly BackupTarget[]
  readonly onBackUp: () => void
}) {
  return (
    <Card
      title={SAYS.targets}
      actions={
        <Button needs="createBackup" onClick={onBackUp}>
          {SAYS.backUp}
        </Button>
      }
    >
      <Table
        label={SAYS.targets}
        empty={SAYS.noTargets}
        keyOf={({ name }) => name}
        rows={targets}
        columns={[
          { head: TEXT.tenants.name, cell: ({ name }) => <b>{name}</b> },
          {
            head: SAYS.place,
            cell: ({ directory, s3 }) => (
              <span class="code">
                {s3 === null ? (directory?.folder ?? '') : `${s3.endpoint}/${s3.bucket}/${s3.prefix}`}
              </span>
            ),
          },
          {
            head: SAYS.held,
            cell: ({ name }) => (
              <RowButton
                text={SAYS.show}
                of={name}
                onClick={() => {
                  backupTarget.value = name
                  backupsOfTarget.forget()
                  void backupsOfTarget.load()
                }}
              />
            ),
          },
        ]}
      />
      <p class="soft">
        {SAYS.follow} <a href={linkTo('operations')}>{TEXT.nav.operations}</a>
      </p>
    </Card>
  )
}

function Held({ onVerify }: { readonly onVerify: (backupId: string) => void }) {
  const target = backupTarget.value
  if (target === '') return null
  return (
    <Card title={SAYS.of(target)}>
      <Loaded of={backupsOfTarget}>
        {(backups) =>
          backups.length === 0 ? (
            <p class="soft">{SAYS.none}</p>
          ) : (
            <ul>
              {backups.map((held) => (
                <One key={held.backupId} held={held} onVerify={() => onVerify(held.backupId)} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function One({
  held: { backupId, backup, problem },
  onVerify,
}: {
  readonly held: HeldBackup
  readonly onVerify: () => void
}) {
  const isLacking = backup !== null && backup.missingCount > 0
  return (
    <li class="operation">
      <div class="head">
        <b class="code">{backupId}</b>
        {isLacking ? <Badge tone="bad">{SAYS.missing(count(backup.missingCount))}</Badge> : null}
        <RowButton needs="verifyClusterBackup" text={SAYS.verify} of={backupId} onClick={onVerify} />
      </div>
      {backup === null ? (
        <p class="soft">{problem}</p>
      ) : (
        <FactList
          rows={[
            [SAYS.cut, <Time iso={backup.cutAt} />],
            [SAYS.size, bytes(backup.chunkBytes)],
            [SAYS.sent, bytes(backup.sentBytes)],
            [SAYS.tenant, backup.tenantId ?? SAYS.whole],
          ]}
        />
      )}
    </li>
  )
}
