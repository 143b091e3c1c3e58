/**
 * A change of the members: what is asked for, its plan, then its progress as it is reported.
 */
import { useState } from 'preact/hooks'
import type { Membership } from '../../../client/src/admin.ts'
import { Copyable, Notice } from '../parts/basics.tsx'
import { Field, Select } from '../parts/form.tsx'
import { PlannedDialog } from '../parts/planned-dialog.tsx'
import { Reason } from '../parts/reason.tsx'
import { load, membership as present } from '../state/cluster-data.ts'
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
import { FollowedOperation } from './operation-state.tsx'

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
  const [given, setGiven] = useState<Answers>({
    member,
    newcomer: '',
    peerAddress: '',
    zone: '',
    fingerprint: '',
    reason: '',
    configIndex: membership.configIndex,
  })
  const change = (more: Partial<Answers>): void => setGiven({ ...given, ...more })
  const { name, about } = TEXT.action[action]
  return (
    <PlannedDialog
      title={member === '' ? name : `${name}: ${member}`}
      about={about}
      fields={<Asked {...{ action, given, change, membership }} />}
      plan={async (api) => {
        // What is done is what was shown: both name the members as they are now, also after a change that has just ended.
        await load('membership')
        const asked = { ...given, configIndex: present.value.peek()?.configIndex ?? given.configIndex }
        setGiven(asked)
        return plan(api, action, asked)
      }}
      shown={(planned: Planned) => <PlanShown planned={planned} />}
      confirm={takesConfirmation(action) ? member : null}
      run={async (api) => {
        const started = await run(api, action, given)
        await load('operations', 'membership')
        return started
      }}
      done={(started: Started) => (
        <>
          {started === null ? (
            <Notice tone="good" title={SAYS.succeeded} />
          ) : (
            <FollowedOperation started={started} />
          )}
          {action === 'demote' ? <p class="soft">{SAYS.stays(member)}</p> : null}
        </>
      )}
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
      <Reason
        value={given.reason}
        onChange={(reason) => change({ reason })}
        isFirst={!takesNewcomer(action)}
      />
    </>
  )
}

function Newcomer({ given, change }: Pick<AskedProps, 'given' | 'change'>) {
  return (
    <>
      <p>{TEXT.action.startFirst}</p>
      <Copyable text={TEXT.action.startLine} label={TEXT.action.join.name} />
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
        <Field
          label={TEXT.action.fingerprint}
          help={TEXT.action.fingerprintHelp}
          value={given.fingerprint}
          onChange={(fingerprint) => change({ fingerprint })}
        />
      </div>
    </>
  )
}

function PlanShown({ planned: { plan: shown } }: { readonly planned: Planned }) {
  const { steps = [], copiesToMove, bytesToMove = 0, newcomer, target } = shown
  return (
    <>
      <h3>{SAYS.planTitle}</h3>
      {newcomer === undefined || newcomer === null ? null : (
        <p>
          {SAYS.newcomer(newcomer.nodeId, newcomer.version)}{' '}
          {newcomer.fingerprint === null ? SAYS.noCertificate : SAYS.certificate(newcomer.fingerprint)}
        </p>
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
