/**
 * Where copies are: of the cluster, a tenant or a bucket, by node and zone, beside what the weights say.
 */
import { useEffect, useState } from 'preact/hooks'
import type { PlacementSum } from '../judge/placement-sum.ts'
import { Bar, Button, Card, FactList, Loaded, Notice, RowButton } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { Table } from '../parts/table.tsx'
import { memberDisks, placed, scope, type Scope } from '../state/placement-data.ts'
import { bytes, count, percent } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { Disks } from './disks.tsx'
import { ChangePlacement, UseFilePlacement } from './placement-dialogs.tsx'
import { RebalanceDialog } from './rebalance.tsx'
import { ChangeWeights } from './weights-dialog.tsx'

const SAYS = TEXT.placement
/** Shares that differ by less are even. */
const EVEN_WITHIN = 0.1

type Node = PlacementSum['nodes'][number]
type Open = 'rebalance' | 'weights' | { readonly kind: 'change' | 'file'; readonly node: Node }

export function PlacementTab() {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => {
    void placed.load()
    void memberDisks.load()
  }, [])
  const close = (): void => {
    setOpen(null)
    void placed.load()
  }
  return (
    <>
      <Card title={SAYS.scope}>
        <ScopeForm />
      </Card>
      <Loaded of={placed}>
        {(sum) => (
          <>
            <Whole sum={sum} onRebalance={() => setOpen('rebalance')} />
            <Card
              title={SAYS.nodes}
              actions={
                <Button needs="setMemberPlacement" onClick={() => setOpen('weights')}>
                  {SAYS.changeAll}
                </Button>
              }
            >
              <Nodes nodes={sum.nodes} onOpen={setOpen} />
            </Card>
            {sum.zones.length < 2 ? null : (
              <Card title={SAYS.zones}>
                <Zones zones={sum.zones} />
              </Card>
            )}
            <Disks nodes={sum.nodes} />
          </>
        )}
      </Loaded>
      {open === null ? null : <OpenDialog open={open} onClose={close} />}
    </>
  )
}

function OpenDialog({ open, onClose }: { readonly open: Open; readonly onClose: () => void }) {
  if (open === 'rebalance') return <RebalanceDialog onClose={onClose} />
  if (open === 'weights') return <ChangeWeights onClose={onClose} />
  return open.kind === 'change' ? (
    <ChangePlacement node={open.node} onClose={onClose} />
  ) : (
    <UseFilePlacement nodeId={open.node.nodeId} onClose={onClose} />
  )
}

function ScopeForm() {
  const [given, setGiven] = useState<Scope>(scope.peek())
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        scope.value = { tenantId: given.tenantId.trim(), bucket: given.bucket.trim() }
        void placed.load()
      }}
    >
      <div class="query">
        <Field
          label={SAYS.tenant}
          help={SAYS.tenantHelp}
          value={given.tenantId}
          onChange={(tenantId) => setGiven({ ...given, tenantId })}
        />
        <Field
          label={SAYS.bucket}
          help={SAYS.bucketHelp}
          value={given.bucket}
          onChange={(bucket) => setGiven({ ...given, bucket })}
        />
      </div>
      <div class="actions">
        <Button type="submit">{SAYS.show}</Button>
      </div>
    </form>
  )
}

function Whole({ sum, onRebalance }: { readonly sum: PlacementSum; readonly onRebalance: () => void }) {
  const { tenantId, bucket } = scope.value
  const of = [tenantId, bucket].filter((part) => part !== '').join(' / ')
  return (
    <Card
      title={of === '' ? SAYS.title : `${SAYS.title}: ${of}`}
      actions={
        <Button needs="rebalance" onClick={onRebalance}>
          {SAYS.rebalance}
        </Button>
      }
    >
      <div class="stack">
        {sum.skew === null ? null : <Notice {...evennessOf(sum.skew)} />}
        <FactList
          rows={[
            [SAYS.chunks, count(sum.chunks)],
            [SAYS.bytes, bytes(sum.bytes)],
            [SAYS.copies, count(sum.held.copies)],
            [SAYS.held, bytes(sum.held.bytes)],
            [SAYS.owed, count(sum.owed.copies)],
            [SAYS.singleCopies, count(sum.singleCopies)],
            [SAYS.singleZones, count(sum.singleZones)],
          ]}
        />
        {sum.isWhole ? null : <p class="soft">{SAYS.notWhole}</p>}
      </div>
    </Card>
  )
}

function evennessOf({ most, least }: NonNullable<PlacementSum['skew']>) {
  const isEven = most.ratio - 1 < EVEN_WITHIN && 1 - least.ratio < EVEN_WITHIN
  return isEven
    ? ({ tone: 'good', title: SAYS.even } as const)
    : ({
        tone: 'info',
        title: SAYS.uneven(most.nodeId, most.ratio.toFixed(2), least.nodeId, least.ratio.toFixed(2)),
      } as const)
}

function Nodes({
  nodes,
  onOpen,
}: {
  readonly nodes: PlacementSum['nodes']
  readonly onOpen: (open: Open) => void
}) {
  return (
    <Table
      label={SAYS.nodes}
      empty=""
      keyOf={({ nodeId }) => nodeId}
      rows={nodes}
      columns={[
        { head: SAYS.node, cell: ({ nodeId }) => <b>{nodeId}</b> },
        {
          head: SAYS.zone,
          cell: ({ zone }) => (zone === null || zone === '' ? TEXT.none : zone),
          isMinor: true,
        },
        { head: SAYS.weight, cell: ({ weight }) => String(weight), isFigure: true, isMinor: true },
        { head: SAYS.copies, cell: ({ copies }) => count(copies), isFigure: true, isMinor: true },
        { head: TEXT.tenants.bytes, cell: (node) => bytes(node.bytes), isFigure: true },
        { head: SAYS.share, cell: (node) => <Share {...node} name={node.nodeId} /> },
        { head: SAYS.owed, cell: ({ owed }) => count(owed.copies), isFigure: true, isMinor: true },
        {
          head: TEXT.tenants.change,
          cell: (node) => (
            <div class="actions">
              <RowButton
                needs="setMemberPlacement"
                text={SAYS.change}
                of={node.nodeId}
                onClick={() => onOpen({ kind: 'change', node })}
              />
              <RowButton
                needs="deleteMemberPlacement"
                text={SAYS.back}
                of={node.nodeId}
                onClick={() => onOpen({ kind: 'file', node })}
              />
            </div>
          ),
        },
      ]}
    />
  )
}

function Share({
  name,
  bytesShare,
  weightShare,
}: {
  readonly name: string
  readonly bytesShare: number
  readonly weightShare: number
}) {
  return (
    <>
      <span>{SAYS.shares(percent(bytesShare), percent(weightShare))}</span>
      <Bar share={bytesShare} label={`${SAYS.share}: ${name}`} />
    </>
  )
}

function Zones({ zones }: { readonly zones: PlacementSum['zones'] }) {
  return (
    <Table
      label={SAYS.zones}
      empty=""
      keyOf={({ zone }) => zone}
      rows={zones}
      columns={[
        { head: SAYS.zone, cell: ({ zone }) => <b>{zone === '' ? TEXT.none : zone}</b> },
        { head: SAYS.copies, cell: ({ copies }) => count(copies), isFigure: true, isMinor: true },
        { head: TEXT.tenants.bytes, cell: (zone) => bytes(zone.bytes), isFigure: true },
        { head: SAYS.share, cell: (zone) => <Share {...zone} name={zone.zone} /> },
      ]}
    />
  )
}
