/**
 * A change of the members: what is asked for, its plan, then its progress as it is reported.
 */
import { useState } from 'preact/hooks'
import type { Membership, Operation } from '../../../client/src/admin.ts'
import { Notice } from '../parts/basics.tsx'
import { Field, Select } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { load, operations } from '../state/cluster-data.ts'
import {
  type Answers,
  type MemberAction,
  plan,
  type Planned,
  run,
  type Started,
  takesConfirmation,
  takesNewcomer,
} from '../state/member-actions.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { OperationState } from './operation-state.tsx'

const SAYS = TEXT.wizard

export interface Chosen {
  readonly action: MemberAction
  /** '' where it is chosen in the dialog. */
  readonly member: string
}

export function MemberWizard({
  chosen: { action, member },
  membership,
  onClose,
}: {
  readonly chosen: Chosen
  readonly membership: Membership
  readonly onClose: () => void
}) {
  const { configIndex } = membership
  const [given, setGiven] = useState<Answers>({
    member,
    newcomer: '',
    peerAddress: '',
    zone: '',
    reason: '',
    configIndex,
  })
  const change = (more: Partial<Answers>): void => setGiven({ ...given, ...more })
  const { name, about } = TEXT.action[action]
  return (
    <PlannedDialog
      title={member === '' ? name : `${name}: ${member}`}
      about={about}
      fields={<Asked {...{ action, given, change, membership }} />}
      plan={(api) => {
        // What is done is what was shown: both name the members as they are now.
        setGiven({ ...given, configIndex })
        return plan(api, action, { ...given, configIndex })
      }}
      shown={(planned: Planned) => <PlanShown planned={planned} />}
      confirm={takesConfirmation(action) ? member : null}
      run={async (api) => {
        const started = await run(api, action, given)
        await load('operations', 'membership')
        return started
      }}
      done={(started: Started) => <Followed started={started} />}
      onClose={onClose}
    />
  )
}

interface AskedProps {
  readonly action: MemberAction
  readonly given: Answers
  readonly change: (more: Partial<Answers>) => void
  readonly membership: Membership
}

function Asked({ action, given, change, membership }: AskedProps) {
  const followers = membership.members.filter(({ role, isLeader }) => role === 'voter' && !isLeader)
  return (
    <>
      {takesNewcomer(action) ? <Newcomer given={given} change={change} /> : null}
      {action === 'transfer' ? (
        <Select
          label={TEXT.action.target}
          value={given.member}
          onChange={(member) => change({ member })}
          choices={[
            { value: '', text: TEXT.action.anyTarget },
            ...followers.map(({ nodeId }) => ({ value: nodeId, text: nodeId })),
          ]}
        />
      ) : null}
      <Field
        label={SAYS.reason}
        help={SAYS.reasonHelp}
        value={given.reason}
        onChange={(reason) => change({ reason })}
        isRequired
        isFirst={!takesNewcomer(action)}
      />
    </>
  )
}

function Newcomer({ given, change }: Pick<AskedProps, 'given' | 'change'>) {
  return (
    <div class="two">
      <Field
        label={TEXT.action.node}
        value={given.newcomer}
        onChange={(newcomer) => change({ newcomer })}
        isRequired
        isFirst
      />
      <Field
        label={TEXT.action.peer}
        help={TEXT.action.peerHelp}
        value={given.peerAddress}
        onChange={(peerAddress) => change({ peerAddress })}
        isRequired
      />
      <Field
        label={TEXT.action.zone}
        help={TEXT.action.zoneHelp}
        value={given.zone}
        onChange={(zone) => change({ zone })}
      />
    </div>
  )
}

function PlanShown({ planned: { plan: shown } }: { readonly planned: Planned }) {
  const { steps = [], copiesToMove, bytesToMove = 0, newcomer, target } = shown
  return (
    <>
      <h3>{SAYS.planTitle}</h3>
      {newcomer === undefined || newcomer === null ? null : (
        <p>{SAYS.newcomer(newcomer.nodeId, newcomer.version)}</p>
      )}
      {target === undefined || target === null ? null : <p>{SAYS.target(target)}</p>}
      {steps.length === 0 ? null : (
        <ol class="steps">
          {steps.map(({ step, voters, failureTolerance }) => (
            <li key={step}>
              <span>
                <b>{step}</b> <span class="soft">{voters.join(', ')}</span>
              </span>
              <span class="soft">
                {SAYS.tolerance}: {failureTolerance}
              </span>
            </li>
          ))}
        </ol>
      )}
      {copiesToMove === undefined ? null : (
        <p class="soft">
          {copiesToMove === 0 ? SAYS.noMoves : SAYS.moves(count(copiesToMove), bytes(bytesToMove))}
        </p>
      )}
    </>
  )
}

/** The operation as it is now, or as it was when it started. */
function Followed({ started }: { readonly started: Started }) {
  const now: Operation | null =
    started === null
      ? null
      : (operations.value.value?.find(({ operationId }) => operationId === started.operationId) ?? started)
  if (now === null) return <Notice tone="good" title={SAYS.succeeded} />
  return (
    <>
      <OperationState operation={now} />
      {now.finishedAt === null ? <p class="soft">{SAYS.follow}</p> : null}
    </>
  )
}
