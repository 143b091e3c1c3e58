/**
 * Health: one sentence, whether data is safe, then what to do, then the figures behind it.
 */
import { useEffect } from 'preact/hooks'
import type { BackupSchedule, Placement } from '../../../client/src/admin.ts'
import { bytes, count, time } from '../words/format.ts'
import type { Finding, Level } from '../judge/finding.ts'
import { judge, type Judgement, lastBackupAt, votersOf } from '../judge/health.ts'
import { Badge, Card, FactList, FaultNotice, Icon, Skeleton, type Tone } from '../parts/basics.tsx'
import { backupPlans } from '../state/backup-data.ts'
import { doctor, load, membership, operations, placement, repair } from '../state/cluster-data.ts'
import { may } from '../state/rights.ts'
import { linkTo } from '../state/route.ts'
import { TEXT } from '../words/strings.ts'

const MARK = { safe: 'good', attention: 'warn', danger: 'warn', unknown: 'unknown' } as const

export function Health() {
  useEffect(() => void load('membership', 'placement', 'repair', 'operations', 'backups', 'doctor'), [])
  const parts = [membership, placement, repair, operations, backupPlans, doctor]
  const isComplete = parts.every(({ value, fault }) => value.value !== null || fault.value !== null)
  if (!isComplete) return <Skeleton />
  const judgement = judge({
    membership: membership.value.value,
    placement: placement.value.value,
    repair: repair.value.value,
    operations: operations.value.value,
    schedules: backupPlans.value.value?.schedules ?? null,
    doctor: doctor.value.value,
  })
  // Parts that are denied are one thing to know.
  const found = parts.flatMap(({ fault }) => fault.value ?? [])
  const faults = found.filter(({ kind }, at) => found.findIndex((other) => other.kind === kind) === at)
  return (
    <>
      <Verdict judgement={judgement} />
      {judgement.findings.length === 0 ? null : <Findings findings={judgement.findings} />}
      <Glance />
      {faults.map((fault) => (
        <FaultNotice key={fault.kind} fault={fault} />
      ))}
    </>
  )
}

function Verdict({ judgement: { level, sentence, why, findings } }: { readonly judgement: Judgement }) {
  return (
    <section class={`verdict ${level}`} aria-live="polite">
      <span class="mark">
        <Icon name={MARK[level]} />
      </span>
      <h2>{sentence}</h2>
      <p>
        {why} {findings[0] === undefined || level === 'safe' ? null : <DoLink finding={findings[0]} />}
      </p>
    </section>
  )
}

/** To the one thing to do, or to the screen where it is. */
function DoLink({ finding: { screen, replace } }: { readonly finding: Finding }) {
  return replace === null || !may('replaceVoter') ? (
    <a href={linkTo(screen)}>{TEXT.nav[screen]}</a>
  ) : (
    <a href={linkTo(screen, replace, 'replace')}>{TEXT.health.replace(replace)}</a>
  )
}

const URGENCY: Readonly<Record<Level, { readonly tone: Tone; readonly text: string }>> = {
  danger: { tone: 'bad', text: TEXT.health.now },
  attention: { tone: 'warn', text: TEXT.health.soon },
  notice: { tone: 'quiet', text: TEXT.health.notice },
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <Card title={TEXT.health.findings}>
      <ul class="findings">
        {findings.map((finding) => {
          const { level, title, todo, page } = finding
          return (
            <li key={title}>
              <Badge tone={URGENCY[level].tone}>{URGENCY[level].text}</Badge>
              <b>{title}</b>
              <p class="soft">{todo}</p>
              <span class="links">
                <DoLink finding={finding} />
                {page === null ? null : <a href={`/docs/${page}`}>{TEXT.learnMore}</a>}
              </span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

const singlesOf = ({ singleCopies, chunks, isTruncated }: Placement): string =>
  isTruncated ? TEXT.health.ofFirst(count(singleCopies), count(chunks)) : count(singleCopies)

function lastBackup(schedules: readonly BackupSchedule[]): string {
  if (schedules.length === 0) return TEXT.health.notScheduled
  const at = lastBackupAt(schedules)
  return at === null ? TEXT.none : time(at)
}

function Glance() {
  const members = membership.value.value
  const copies = placement.value.value
  const running = operations.value.value?.filter(({ status }) => status === 'running').length
  const rows: (readonly [string, string])[] = []
  if (members !== null)
    rows.push(
      [TEXT.health.leader, members.leaderId ?? TEXT.none],
      [TEXT.health.voters, count(votersOf(members).length)],
      [TEXT.health.tolerance, count(members.failureTolerance)],
      [TEXT.health.level, count(members.featureLevel)],
    )
  const owing = repair.value.value?.nodes
  if (owing !== undefined)
    rows.push([TEXT.health.owed, count(owing.reduce((sum, { pending }) => sum + (pending ?? 0), 0))])
  if (copies !== null)
    rows.push([TEXT.health.singles, singlesOf(copies)], [TEXT.health.stored, bytes(copies.held.bytes)])
  if (running !== undefined) rows.push([TEXT.health.running, count(running)])
  const schedules = backupPlans.value.value?.schedules
  if (schedules !== undefined) rows.push([TEXT.health.lastBackup, lastBackup(schedules)])
  return rows.length === 0 ? null : (
    <Card title={TEXT.health.facts}>
      <FactList rows={rows} />
    </Card>
  )
}
