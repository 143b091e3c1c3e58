/**
 * The disks of each node: their state, room and doubts; those of nodes with several can be emptied and used again.
 */
import { useState } from 'preact/hooks'
import type { PlacementSum } from '../judge/placement-sum.ts'
import { Badge, Bar, Button, Card, Notice, RowButton, type Tone } from '../parts/basics.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { Table } from '../parts/table.tsx'
import { type MemberDisks, memberDisks, placed } from '../state/placement-data.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.placement

type Disk = NonNullable<PlacementSum['nodes'][number]['disks']>[number]
type Left = MemberDisks['disks'][number]['left']

interface Row {
  readonly nodeId: string
  readonly disk: Disk
  readonly left: Left
}

interface Chosen {
  readonly nodeId: string
  readonly diskId: string
  readonly change: 'drain' | 'use'
}

const TONE: Readonly<Record<Disk['status'], Tone>> = {
  serving: 'good',
  draining: 'info',
  drained: 'quiet',
  absent: 'bad',
  foreign: 'bad',
  failed: 'bad',
}
const LEVEL_TONE: Readonly<Record<Disk['level'], Tone>> = {
  open: 'info',
  stopPlacing: 'warn',
  stopWriting: 'bad',
  reserve: 'bad',
}

/** The states of disks are part of the placement, what is left on them is not. */
function reload(): void {
  void placed.load()
  void memberDisks.load()
}

export function Disks({ nodes }: { readonly nodes: PlacementSum['nodes'] }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const known = memberDisks.value.value ?? []
  const leftOf = (nodeId: string, diskId: string | undefined): Left =>
    known.find((one) => one.nodeId === nodeId)?.disks.find((one) => one.diskId === diskId)?.left ?? null
  const rows = nodes.flatMap(({ nodeId, disks }) =>
    (disks ?? []).map((disk): Row => ({ nodeId, disk, left: leftOf(nodeId, disk.diskId) })),
  )
  return (
    <Card title={SAYS.disks} actions={<Button onClick={reload}>{TEXT.refresh}</Button>}>
      <Table
        label={SAYS.disks}
        empty={TEXT.unknown}
        keyOf={({ nodeId, disk }) => `${nodeId} ${disk.diskId ?? disk.directory ?? ''}`}
        rows={rows}
        columns={[
          {
            head: SAYS.disk,
            cell: ({ nodeId, disk: { directory, diskId } }) => (
              <>
                <b>{nodeId}</b> <span class="code">{diskId === undefined ? SAYS.oneDisk : directory}</span>
              </>
            ),
          },
          { head: SAYS.state, cell: ({ disk, left }) => <State disk={disk} left={left} /> },
          { head: SAYS.free, cell: ({ disk, nodeId }) => <Room disk={disk} name={nodeId} />, isMinor: true },
          { head: TEXT.tenants.change, cell: (row) => <Orders row={row} onChoose={setChosen} /> },
        ]}
      />
      {chosen === null ? null : (
        <ChangeDisk
          chosen={chosen}
          onClose={() => {
            setChosen(null)
            reload()
          }}
        />
      )}
    </Card>
  )
}

function State({ disk, left }: { readonly disk: Disk; readonly left: Left }) {
  const { status, level, isSuspect, doubt, suggestion } = disk
  const doubts = [
    ...(isSuspect ? [SAYS.suspect] : []),
    ...(doubt === undefined ? [] : [SAYS.doubts[doubt]]),
    ...(level === 'open' ? [] : [SAYS.levels[level]]),
  ]
  return (
    <>
      <Badge tone={TONE[status]}>{SAYS.states[status]}</Badge>
      {doubts.map((text) => (
        <Badge key={text} tone="warn">
          {text}
        </Badge>
      ))}
      {left === null || left.copies === 0 ? null : (
        <p class="soft">
          {left.isComplete ? '' : `${SAYS.atLeast} `}
          {SAYS.left(count(left.copies), bytes(left.bytes))}
        </p>
      )}
      {suggestion === undefined ? null : <p class="soft">{suggestion}</p>}
    </>
  )
}

function Room({
  disk: { totalBytes, freeBytes, level },
  name,
}: {
  readonly disk: Disk
  readonly name: string
}) {
  return (
    <>
      {bytes(freeBytes)} / {bytes(totalBytes)}
      <Bar
        share={totalBytes === 0 ? 0 : (totalBytes - freeBytes) / totalBytes}
        label={`${SAYS.disk}: ${name}`}
        tone={LEVEL_TONE[level]}
      />
    </>
  )
}

function Orders({
  row: { nodeId, disk },
  onChoose,
}: {
  readonly row: Row
  readonly onChoose: (chosen: Chosen) => void
}) {
  const { diskId, status, directory } = disk
  if (diskId === undefined) return null
  const isLeaving = status === 'draining' || status === 'drained'
  const change = isLeaving ? 'use' : 'drain'
  return (
    <RowButton
      needs={isLeaving ? 'cancelDiskDrain' : 'drainDisk'}
      text={SAYS[change]}
      of={`${nodeId} ${directory ?? diskId}`}
      onClick={() => onChoose({ nodeId, diskId, change })}
    />
  )
}

function ChangeDisk({
  chosen: { nodeId, diskId, change },
  onClose,
}: {
  readonly chosen: Chosen
  readonly onClose: () => void
}) {
  const [reason, setReason] = useState('')
  const given = { nodeId, diskId, reason }
  const isDrain = change === 'drain'
  return (
    <PlannedDialog
      title={`${SAYS[change]}: ${nodeId}`}
      about={isDrain ? SAYS.drainAbout : SAYS.useAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api) => (isDrain ? api.dryRun.drainDisk(given) : api.dryRun.cancelDiskDrain(given))}
      shown={({ plan: { copies, bytes: size, roomBytes } }) => (
        <p>{isDrain ? SAYS.drainPlan(count(copies), bytes(size), bytes(roomBytes)) : SAYS.usePlan}</p>
      )}
      confirm={null}
      run={(api) => (isDrain ? api.drainDisk(given) : api.cancelDiskDrain(given))}
      done={() => <Notice tone="good" title={isDrain ? SAYS.drained : SAYS.used} />}
      onClose={onClose}
    />
  )
}
