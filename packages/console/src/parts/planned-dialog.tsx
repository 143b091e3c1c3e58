/**
 * A change that is looked at before it is made: what it asks for, its plan with what stands in the way, a name typed where it cannot be taken back,
 * then what came of it.
 *
 * Rule: nothing is sent but plans until the button that says so is pressed.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { HoldfastAdmin } from '../../../client/src/admin.ts'
import { type Fault, faultOf } from '../state/resource.ts'
import { client, noticeRefusal } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'
import { Button, FaultNotice, Notice } from './basics.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './form.tsx'

const SAYS = TEXT.wizard

/** As every dry run of the API answers. */
export interface AnyPlan {
  readonly allowed: boolean
  readonly blockers: readonly { readonly code: string; readonly message: string }[]
  readonly warnings: readonly string[]
}

interface Props<P extends AnyPlan, R> {
  readonly title: string
  readonly about: string
  /** The fields of the first step. */
  readonly fields: ComponentChildren
  readonly plan: (api: HoldfastAdmin) => Promise<P>
  readonly shown: (plan: P) => ComponentChildren
  /** What must be typed before it is done; null: nothing. */
  readonly confirm: string | null
  readonly run: (api: HoldfastAdmin) => Promise<R>
  readonly done: (result: R) => ComponentChildren
  readonly onClose: () => void
}

type Step<P, R> =
  | { readonly kind: 'form' }
  | { readonly kind: 'plan'; readonly plan: P }
  | { readonly kind: 'done'; readonly result: R }

export function PlannedDialog<P extends AnyPlan, R>(props: Props<P, R>) {
  const { title, about, fields, confirm, onClose } = props
  const [step, setStep] = useState<Step<P, R>>({ kind: 'form' })
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<Fault | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (work: (api: HoldfastAdmin) => Promise<Step<P, R>>): Promise<void> => {
    const api = client.peek()
    if (api === null) return
    setBusy(true)
    setFault(null)
    try {
      setStep(await work(api))
    } catch (error) {
      noticeRefusal(error)
      setFault(faultOf(error))
    }
    setBusy(false)
  }
  const submit = (): Promise<void> =>
    step.kind === 'form'
      ? attempt(async (api) => ({ kind: 'plan', plan: await props.plan(api) }))
      : attempt(async (api) => ({ kind: 'done', result: await props.run(api) }))
  return (
    <Dialog title={title} onClose={onClose}>
      {step.kind === 'done' ? (
        <Outcome onClose={onClose}>{props.done(step.result)}</Outcome>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void submit()
          }}
        >
          {step.kind === 'form' ? <p class="soft">{about}</p> : null}
          {step.kind === 'form' ? fields : props.shown(step.plan)}
          {step.kind === 'form' ? null : <PlanVerdict plan={step.plan} />}
          {step.kind === 'plan' && step.plan.allowed && confirm !== null ? (
            <Confirmation name={confirm} typed={typed} onType={setTyped} />
          ) : null}
          <div class="actions">
            <SubmitButton
              plan={step.kind === 'plan' ? step.plan : null}
              isFinal={confirm !== null}
              isDisabled={isBusy || (step.kind === 'plan' && confirm !== null && typed !== confirm)}
            />
            <Button onClick={step.kind === 'form' ? onClose : () => setStep({ kind: 'form' })}>
              {step.kind === 'form' ? SAYS.cancel : SAYS.back}
            </Button>
          </div>
        </form>
      )}
      {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
    </Dialog>
  )
}

function Outcome({
  children,
  onClose,
}: {
  readonly children: ComponentChildren
  readonly onClose: () => void
}) {
  return (
    <>
      {children}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          {SAYS.done}
        </Button>
      </div>
    </>
  )
}

function Confirmation({
  name,
  typed,
  onType,
}: {
  readonly name: string
  readonly typed: string
  readonly onType: (text: string) => void
}) {
  return <Field label={SAYS.confirm(name)} help={SAYS.confirmHelp} value={typed} onChange={onType} isFirst />
}

/** Shows the plan, or does what it says; a plan that is not allowed has none. `isFinal`: there is no way back. */
function SubmitButton({
  plan,
  isFinal,
  isDisabled,
}: {
  readonly plan: AnyPlan | null
  readonly isFinal: boolean
  readonly isDisabled: boolean
}) {
  if (plan !== null && !plan.allowed) return null
  return (
    <Button type="submit" kind={plan !== null && isFinal ? 'danger' : 'primary'} isDisabled={isDisabled}>
      {plan === null ? SAYS.plan : SAYS.run}
    </Button>
  )
}

function PlanVerdict({ plan: { allowed, blockers, warnings } }: { readonly plan: AnyPlan }) {
  return (
    <>
      {warnings.length === 0 ? null : (
        <Notice tone="warn" title={SAYS.warnings}>
          {warnings.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Notice>
      )}
      {allowed ? null : (
        <Notice tone="bad" title={SAYS.blockers}>
          {blockers.map(({ code, message }) => (
            <p key={code}>
              {message} <span class="code soft">{code}</span>
            </p>
          ))}
          <p>{SAYS.blocked}</p>
        </Notice>
      )}
    </>
  )
}
