/**
 * Repair and scrub of each node, and what can be asked for: two checks, and a rebalance.
 */
import { useState } from 'preact/hooks'
import type { Repair } from '../../../client/src/admin.ts'
import { Bar, Button, Card, Loaded, Time } from '../parts/basics.tsx'
import { type AnyPlan, PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { Table } from '../parts/table.tsx'
import { load, repair } from '../state/cluster-data.ts'
import { bytes, count, percent } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { FollowedOperation } from './operation-state.tsx'
import { RebalanceDialog } from './rebalance.tsx'

const SAYS = TEXT.operations

type Check = 'scrub' | 'recount'

export function RepairCard() {
  const [asked, setAsked] = useState<Check | 'rebalance' | null>(null)
  return (
    <Card
      title={SAYS.repair}
      actions={
        <>
          <Button needs="scrub" onClick={() => setAsked('scrub')}>
            {SAYS.startScrub}
          </Button>
          <Button needs="recount" onClick={() => setAsked('recount')}>
            {SAYS.startRecount}
          </Button>
          <Button needs="rebalance" onClick={() => setAsked('rebalance')}>
            {SAYS.startRebalance}
          </Button>
        </>
      }
    >
      <Loaded of={repair}>
        {({ nodes, maxBytesPerSecond }) => (
          <>
            <p class="soft">
              {SAYS.rate}: {maxBytesPerSecond === null ? TEXT.noLimit : `${bytes(maxBytesPerSecond)}/s`}
            </p>
            <NodeTable nodes={nodes} />
          </>
        )}
      </Loaded>
      {asked === 'rebalance' ? <RebalanceDialog onClose={() => setAsked(null)} /> : null}
      {asked === null || asked === 'rebalance' ? null : (
        <StartCheck key={asked} check={asked} onClose={() => setAsked(null)} />
      )}
    </Card>
  )
}

function NodeTable({ nodes }: { readonly nodes: Repair['nodes'] }) {
  return (
    <Table
      label={SAYS.repair}
      empty=""
      keyOf={({ nodeId }) => nodeId}
      rows={nodes}
      columns={[
        { head: SAYS.node, cell: ({ nodeId }) => nodeId },
        {
          head: SAYS.pending,
          cell: ({ pending }) => (pending === null ? TEXT.unknown : count(pending)),
          isFigure: true,
        },
        {
          head: SAYS.scrub,
          cell: ({ nodeId, scrub }) =>
            scrub === null ? (
              TEXT.unknown
            ) : (
              <>
                {percent(scrub.progress)}
                <Bar share={scrub.progress} label={`${SAYS.scrub}: ${nodeId}`} />
              </>
            ),
        },
        {
          head: SAYS.lastFull,
          cell: ({ scrub }) => <Time iso={scrub?.lastFullAt ?? null} />,
          isMinor: true,
        },
        {
          head: SAYS.bad,
          cell: ({ scrub }) => (scrub === null ? '' : count(scrub.lost)),
          isFigure: true,
        },
      ]}
    />
  )
}

function StartCheck({ check, onClose }: { readonly check: Check; readonly onClose: () => void }) {
  const [reason, setReason] = useState('')
  const isScrub = check === 'scrub'
  return (
    <PlannedDialog
      title={isScrub ? SAYS.startScrub : SAYS.startRecount}
      about={isScrub ? SAYS.scrubAbout : SAYS.recountAbout}
      fields={<Reason value={reason} onChange={setReason} isFirst />}
      plan={(api): Promise<AnyPlan> =>
        isScrub ? api.dryRun.scrub({ reason }) : api.dryRun.recount({ reason })
      }
      shown={() => <p>{isScrub ? SAYS.scrubPlan : SAYS.recountPlan}</p>}
      confirm={null}
      run={async (api) => {
        const started = await (isScrub ? api.scrub({ reason }) : api.recount({ reason }))
        await load('operations')
        return started
      }}
      done={(started) => <FollowedOperation started={started} />}
      onClose={onClose}
    />
  )
}
