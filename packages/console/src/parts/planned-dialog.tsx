/**
 * A change that is looked at before it is made: what it asks for, its plan with what stands in the way, a name typed where it cannot be taken back,
 * then what came of it. Through the admin API, which has dry runs, or through the data API, where a look-up stands for one.
 *
 * Rule: nothing is sent but plans until the button that says so is pressed.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { HoldfastAdmin } from '../../../client/src/admin.ts'
import type { Holdfast } from '../../../client/src/index.ts'
import { TEXT } from '../words/strings.ts'
import { type Access, BY_KEY, BY_TOKEN } from './access.ts'
import { useAttempt } from './attempt.ts'
import { Button, FaultNotice, Notice } from './basics.tsx'
import { CurlLine } from './curl-line.tsx'
import { Dialog } from './dialog.tsx'
import { Confirmation, Outcome } from './dialog-steps.tsx'

const SAYS = TEXT.wizard

/** As every dry run of the API answers. */
export interface AnyPlan {
  readonly allowed: boolean
  readonly blockers: readonly { readonly code: string; readonly message: string }[]
  readonly warnings: readonly string[]
}

/** Of a look-up: nothing stands in its way, and what may not be set is refused. */
export const ALLOWED: AnyPlan = { allowed: true, blockers: [], warnings: [] }

interface Props<C, P extends AnyPlan, R> {
  readonly title: string
  readonly about: string
  /** The fields of the first step. */
  readonly fields: ComponentChildren
  /** Why there is nothing to plan yet; null: there is. */
  readonly missing?: string | null
  readonly plan: (api: C) => Promise<P>
  readonly shown: (plan: P) => ComponentChildren
  /** What must be typed before it is done; null: nothing. */
  readonly confirm: string | null
  readonly run: (api: C) => Promise<R>
  /** What the button of `run` says. */
  readonly runText?: string
  /** The requests one by one, where `run` sends several. */
  readonly asks?: readonly ((api: C) => Promise<unknown>)[]
  readonly done: (result: R) => ComponentChildren
  readonly onClose: () => void
}

type Step<P, R> =
  | { readonly kind: 'form' }
  | { readonly kind: 'plan'; readonly plan: P }
  | { readonly kind: 'done'; readonly result: R }

/** Through the admin API. */
export function PlannedDialog<P extends AnyPlan, R>(props: Props<HoldfastAdmin, P, R>) {
  return <StepsDialog {...props} access={BY_TOKEN} />
}

/** Through the data API; `plan` looks at what would change. */
export function PreviewedDialog<P extends AnyPlan, R>(props: Props<Holdfast, P, R>) {
  return <StepsDialog {...props} access={BY_KEY} />
}

function StepsDialog<C, P extends AnyPlan, R>(props: Props<C, P, R> & { readonly access: Access<C> }) {
  const { title, about, fields, missing = null, confirm, onClose, access } = props
  const { run, runText = SAYS.run, asks = [run] } = props
  const [step, setStep] = useState<Step<P, R>>({ kind: 'form' })
  const [typed, setTyped] = useState('')
  const { fault, isBusy, attempt } = useAttempt(access)
  const submit = (): Promise<void> =>
    attempt(async (api) =>
      setStep(
        step.kind === 'form'
          ? { kind: 'plan', plan: await props.plan(api) }
          : { kind: 'done', result: await run(api) },
      ),
    )
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
          {step.kind === 'form' && missing !== null ? <p class="soft">{missing}</p> : null}
          <div class="actions">
            <SubmitButton
              plan={step.kind === 'plan' ? step.plan : null}
              text={step.kind === 'form' ? SAYS.plan : runText}
              isFinal={confirm !== null}
              isDisabled={
                isBusy || (step.kind === 'form' ? missing !== null : confirm !== null && typed !== confirm)
              }
            />
            <Button
              isDisabled={isBusy && step.kind === 'plan'}
              onClick={step.kind === 'form' ? onClose : () => setStep({ kind: 'form' })}
            >
              {step.kind === 'form' ? SAYS.cancel : SAYS.back}
            </Button>
          </div>
          {step.kind === 'plan' && step.plan.allowed ? <CurlLine line={() => linesOf(access, asks)} /> : null}
        </form>
      )}
      {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
    </Dialog>
  )
}

/** One below the other; null: none of them sends anything. */
async function linesOf<C>(
  { line }: Access<C>,
  asks: readonly ((api: C) => Promise<unknown>)[],
): Promise<string | null> {
  const lines = await Promise.all(asks.map(line))
  const sent = lines.filter((one) => one !== null)
  return sent.length === 0 ? null : sent.join('\n')
}

/** Shows the plan, or does what it says; a plan that is not allowed has none. `isFinal`: there is no way back. */
function SubmitButton({
  plan,
  text,
  isFinal,
  isDisabled,
}: {
  readonly plan: AnyPlan | null
  readonly text: string
  readonly isFinal: boolean
  readonly isDisabled: boolean
}) {
  if (plan !== null && !plan.allowed) return null
  return (
    <Button type="submit" kind={plan !== null && isFinal ? 'danger' : 'primary'} isDisabled={isDisabled}>
      {text}
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
