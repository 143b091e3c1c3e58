/**
 * Weights and zones of several members: planned together, then set member by member, with what is set and what is not.
 */
import { useEffect, useState } from 'preact/hooks'
import type { HoldfastAdmin, Membership } from '../../../client/src/admin.ts'
import { InputError } from '../forms/input-error.ts'
import {
  changesOf,
  isChanged,
  type PlaceChange,
  setRest,
  typedOf,
  type Weights,
} from '../forms/weights-form.ts'
import { Badge, Loaded, Notice } from '../parts/basics.tsx'
import { Field } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { load, membership } from '../state/cluster-data.ts'
import { TEXT } from '../words/strings.ts'
import { Moves, type MovesPlan } from './moves-plan.tsx'

const SAYS = TEXT.placement

/** Others take no new copies, and cannot be placed. */
const placeable = (present: Membership | null): Membership['members'] =>
  present?.members.filter(({ phase }) => phase === 'active') ?? []

async function planOf(api: HoldfastAdmin, changes: readonly PlaceChange[]): Promise<MovesPlan> {
  const members = changes.map(({ nodeId, planned }) => ({ nodeId, ...planned }))
  const { blockers, warnings, isTruncated, ...plan } = await api.planClusterPlacement({ members })
  return { allowed: blockers.length === 0, blockers, warnings, plan: { ...plan, isComplete: !isTruncated } }
}

export function ChangeWeights({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState<Weights>({})
  const [reason, setReason] = useState('')
  /** As they were planned. */
  const [changes, setChanges] = useState<readonly PlaceChange[]>([])
  const [done, setDone] = useState<readonly string[]>([])
  useEffect(() => void load('membership'), [])
  const set = (api: HoldfastAdmin, change: PlaceChange) =>
    api.setMemberPlacement({ nodeId: change.nodeId, ...change.set, reason })
  return (
    <PlannedDialog
      title={SAYS.changeAll}
      about={SAYS.changeAllAbout}
      fields={
        <>
          <Loaded of={membership}>
            {(present) => <Members members={placeable(present)} typed={typed} onType={setTyped} />}
          </Loaded>
          <Reason value={reason} onChange={setReason} />
        </>
      }
      missing={
        placeable(membership.value.value).some((member) => isChanged(member, typed)) ? null : SAYS.unchanged
      }
      plan={async (api) => {
        // What is set is what was shown, also when somebody else has changed a member meanwhile.
        await load('membership')
        const planned = changesOf(placeable(membership.value.peek()), typed)
        if (planned.length === 0) throw new InputError(SAYS.unchanged)
        setChanges(planned)
        setDone([])
        return planOf(api, planned)
      }}
      shown={(planned: MovesPlan) => (
        <>
          <Moves planned={planned} />
          <Steps changes={changes} done={done} />
        </>
      )}
      confirm={null}
      run={(api) =>
        setRest(changes, done, {
          set: (change) => set(api, change),
          onSet: (nodeId) => setDone((before) => [...before, nodeId]),
        })
      }
      {...(done.length === 0 ? {} : { runText: SAYS.setRest })}
      asks={[
        (api) => planOf(api, changes),
        ...changes.map((change) => (api: HoldfastAdmin) => set(api, change)),
      ]}
      done={() => (
        <>
          <Notice tone="good" title={SAYS.changed} />
          <Steps changes={changes} done={done} />
        </>
      )}
      onClose={onClose}
    />
  )
}

function Members({
  members,
  typed,
  onType,
}: {
  readonly members: Membership['members']
  readonly typed: Weights
  readonly onType: (typed: Weights) => void
}) {
  return members.map((member, n) => {
    const { nodeId } = member
    const { weight, zone } = typedOf(member, typed)
    const change = (more: Weights[string]): void =>
      onType({ ...typed, [nodeId]: { ...typed[nodeId], ...more } })
    return (
      <div class="two" key={nodeId}>
        <Field
          label={SAYS.weightOf(nodeId)}
          value={weight}
          onChange={(text) => change({ weight: text })}
          isFirst={n === 0}
        />
        <Field label={SAYS.zoneOf(nodeId)} value={zone} onChange={(text) => change({ zone: text })} />
      </div>
    )
  })
}

/** In the order in which they are set. */
function Steps({
  changes,
  done,
}: {
  readonly changes: readonly PlaceChange[]
  readonly done: readonly string[]
}) {
  return (
    <ol class="steps">
      {changes.map(({ nodeId, planned: { weight, zone } }) => (
        <li key={nodeId}>
          <span>
            <b>{nodeId}</b> <span class="soft">{SAYS.becomes(weight, zone)}</span>
          </span>
          {done.includes(nodeId) ? (
            <Badge tone="good">{SAYS.isSet}</Badge>
          ) : (
            <Badge tone="quiet">{SAYS.isNotSet}</Badge>
          )}
        </li>
      ))}
    </ol>
  )
}
