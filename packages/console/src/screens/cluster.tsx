/**
 * Cluster: each member with what is known of it.
 */
import { useEffect, useState } from 'preact/hooks'
import type { ClusterDoctor, Membership, Repair } from '../../../client/src/admin.ts'
import { bytes, count, duration, time } from '../words/format.ts'
import { Badge, Bar, Button, Card, FactList, Loaded, RowButton, Time, type Tone } from '../parts/basics.tsx'
import { Table } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { firstToEnd } from '../judge/doctor.ts'
import { doctor, load, membership, repair } from '../state/cluster-data.ts'
import { isMemberAction, MEMBER_OPERATIONS, type MemberAction } from '../state/member-actions.ts'
import { may } from '../state/rights.ts'
import { linkTo, place } from '../state/route.ts'
import { TEXT } from '../words/strings.ts'
import { MasterKeyCard } from './master-key-card.tsx'
import { type Chosen, MemberWizard } from './member-wizard.tsx'
import { PlacementTab } from './placement.tsx'

type Member = Membership['members'][number]
type ExaminedNode = ClusterDoctor['nodes'][number]
type Disk = NonNullable<Repair['nodes'][number]['disk']>

const SAYS = TEXT.cluster

export function Cluster() {
  const { item, inner } = place.value
  const isPlacement = item === 'placement' && inner === ''
  const { tabs } = TEXT.placement
  return (
    <>
      <Tabs
        label={SAYS.title}
        tabs={[
          { text: tabs.members, href: linkTo('cluster'), isShown: !isPlacement },
          { text: tabs.placement, href: linkTo('cluster', 'placement'), isShown: isPlacement },
        ]}
      />
      {isPlacement ? <PlacementTab /> : <Members />}
    </>
  )
}

function Members() {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const { item, inner } = place.value
  const present = membership.value.value
  useEffect(() => void load('membership', 'repair', 'doctor'), [])
  useEffect(() => {
    if (present === null || !isMemberAction(inner) || !may(MEMBER_OPERATIONS[inner])) return
    if (present.members.some(({ nodeId }) => nodeId === item)) setChosen({ action: inner, member: item })
    // The link opens it once: a reload shows the screen alone.
    history.replaceState(null, '', linkTo('cluster'))
  }, [item, inner, present !== null])
  return (
    <Loaded of={membership}>
      {(value) => (
        <>
          <div class="actions">
            <Button
              kind="primary"
              needs={MEMBER_OPERATIONS.join}
              onClick={() => setChosen({ action: 'join', member: '' })}
            >
              {SAYS.join}
            </Button>
            <Button
              needs={MEMBER_OPERATIONS.transfer}
              onClick={() => setChosen({ action: 'transfer', member: '' })}
            >
              {SAYS.transfer}
            </Button>
          </div>
          <div class="grid">
            {value.members.map((member) => (
              <MemberCard
                key={member.nodeId}
                member={member}
                committed={value.committedIndex}
                onChoose={setChosen}
              />
            ))}
          </div>
          {may('getClusterEncryption') ? <MasterKeyCard /> : null}
          {value.departed.length === 0 ? null : <Departed departed={value.departed} />}
          {chosen === null ? null : (
            <MemberWizard
              key={`${chosen.action} ${chosen.member}`}
              chosen={chosen}
              membership={value}
              onClose={() => setChosen(null)}
            />
          )}
        </>
      )}
    </Loaded>
  )
}

function MemberCard({
  member,
  committed,
  onChoose,
}: {
  readonly member: Member
  readonly committed: number
  readonly onChoose: (chosen: Chosen) => void
}) {
  const { nodeId, reachable, phase, conditions = [] } = member
  const tone: Tone = reachable === false ? 'bad' : conditions.length > 0 ? 'warn' : 'good'
  const disk = repair.value.value?.nodes.find((node) => node.nodeId === nodeId)?.disk ?? null
  const examined = doctor.value.value?.nodes.find((node) => node.nodeId === nodeId)
  const terms = new Set(examined?.certificates.map(({ term }) => term).filter((term) => term !== 'valid'))
  return (
    <article class="card member" aria-label={nodeId}>
      <div class="name">
        <h2>
          <span class={`dot ${tone}`} />
          {nodeId}
          <span class="unseen">{reachable === false ? SAYS.silent : SAYS.answers}</span>
        </h2>
        {reachable === false ? <Badge tone="bad">{SAYS.silent}</Badge> : null}
        {phase === 'active' ? null : <Badge tone="info">{TEXT.status[phase]}</Badge>}
        <Badge tone={member.isLeader ? 'info' : 'quiet'}>
          {member.isLeader ? SAYS.leader : SAYS[member.role]}
        </Badge>
      </div>
      {conditions.map(({ code, message }) => (
        <div class="notice warn" key={code}>
          <b>{code}</b>
          <p>{message}</p>
        </div>
      ))}
      {[...terms].map((term) => (
        <Badge key={term} tone={term === 'endsSoon' ? 'warn' : 'bad'}>
          {SAYS.term[term]}
        </Badge>
      ))}
      <FactList rows={[...factsOf(member, committed), [SAYS.certificates, certificatesOf(examined)]]} />
      {disk === null ? null : <DiskLine disk={disk} />}
      <footer class="actions">
        {actionsOf(member).map((action) => (
          <RowButton
            key={action}
            needs={MEMBER_OPERATIONS[action]}
            text={TEXT.action[action].name}
            of={nodeId}
            onClick={() => onChoose({ action, member: nodeId })}
          />
        ))}
      </footer>
    </article>
  )
}

/** The one that ends first: the others follow it. */
function certificatesOf(examined: ExaminedNode | undefined): string {
  if (examined?.answer !== 'known') return TEXT.unknown
  const first = firstToEnd(examined.certificates)
  return first === null ? TEXT.none : SAYS.certificateEnds(first.setting, time(first.notAfter))
}

/** What may come next for it; the plan says what stands in the way. */
function actionsOf({ role, reachable }: Member): readonly MemberAction[] {
  return [
    ...(role === 'voter' ? (['demote', 'replace'] as const) : (['remove'] as const)),
    ...(reachable === false ? (['lost'] as const) : []),
  ]
}

function factsOf(member: Member, committed: number): readonly (readonly [string, string])[] {
  const { zone, version, matchIndex, blobs, peerAddress, lastContactMs, isLeader, weight } = member
  const behind = matchIndex === null ? null : Math.max(0, committed - matchIndex)
  const lag = behind === null ? TEXT.unknown : behind === 0 ? SAYS.current : SAYS.lagEntries(count(behind))
  const copies =
    blobs === null
      ? TEXT.unknown
      : `${count(blobs.replicas)}${blobs.lastCopies > 0 ? ` (${SAYS.lastCopies(count(blobs.lastCopies))})` : ''}`
  return [
    [SAYS.zone, zone === '' ? TEXT.none : zone],
    [SAYS.version, version ?? TEXT.unknown],
    isLeader || lastContactMs === null
      ? [SAYS.weight, String(weight)]
      : [SAYS.contact, duration(lastContactMs / 1000)],
    [SAYS.lag, isLeader ? SAYS.current : lag],
    [SAYS.copies, copies],
    [SAYS.address, peerAddress],
  ]
}

const DISK_TONE: Readonly<Record<Disk['level'], Tone>> = {
  open: 'info',
  stopPlacing: 'warn',
  stopWriting: 'bad',
  reserve: 'bad',
}

function DiskLine({ disk: { totalBytes, freeBytes, level } }: { readonly disk: Disk }) {
  const used = totalBytes - freeBytes
  return (
    <div class="disk">
      <span>
        {SAYS.disk}{' '}
        <span class="soft">
          {bytes(used)} / {bytes(totalBytes)}
        </span>
      </span>
      <Bar share={totalBytes === 0 ? 0 : used / totalBytes} label={SAYS.disk} tone={DISK_TONE[level]} />
    </div>
  )
}

function Departed({ departed }: { readonly departed: Membership['departed'] }) {
  return (
    <Card title={SAYS.departed}>
      <Table
        label={SAYS.departed}
        keyOf={({ nodeId, incarnation }) => `${nodeId} ${incarnation ?? ''}`}
        empty=""
        rows={departed}
        columns={[
          { head: TEXT.action.node, cell: ({ nodeId }) => nodeId },
          { head: TEXT.operations.status, cell: ({ how }) => SAYS.how[how] },
          { head: TEXT.wizard.reason, cell: ({ reason }) => reason ?? '', isMinor: true },
          { head: TEXT.operations.started, cell: ({ at }) => <Time iso={at} /> },
        ]}
      />
    </Card>
  )
}
