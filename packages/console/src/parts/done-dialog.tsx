/**
 * A change through the data API, which has no dry run: what it does is said, a name is typed where there is no way back, then it is done.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Holdfast } from '../../../client/src/index.ts'
import { TEXT } from '../words/strings.ts'
import { BY_KEY } from './access.ts'
import { useAttempt } from './attempt.ts'
import { Button, FaultNotice } from './basics.tsx'
import { CurlLine } from './curl-line.tsx'
import { Dialog } from './dialog.tsx'
import { Confirmation, Outcome } from './dialog-steps.tsx'

interface Props<R> {
  readonly title: string
  readonly about: string
  readonly fields?: ComponentChildren
  readonly submit: string
  /** What must be typed before it is done; null: nothing. */
  readonly confirm?: string | null
  readonly run: (api: Holdfast) => Promise<R>
  /** null: the dialog closes. */
  readonly done?: (result: R) => ComponentChildren
  readonly onClose: () => void
}

export function DoneDialog<R>(props: Props<R>) {
  const { title, about, fields = null, submit, confirm = null, run, done, onClose } = props
  const [typed, setTyped] = useState('')
  const { fault, isBusy, attempt } = useAttempt(BY_KEY)
  const [result, setResult] = useState<{ readonly value: R } | null>(null)
  const submitted = (): Promise<void> =>
    attempt(async (api) => {
      const value = await run(api)
      if (done === undefined) onClose()
      else setResult({ value })
    })
  if (result !== null && done !== undefined)
    return (
      // Another window, so that the focus begins in it again.
      <Dialog key="outcome" title={title} onClose={onClose}>
        <Outcome onClose={onClose}>{done(result.value)}</Outcome>
      </Dialog>
    )
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submitted()
        }}
      >
        <p class="soft">{about}</p>
        {fields}
        {confirm === null ? null : <Confirmation name={confirm} typed={typed} onType={setTyped} />}
        <div class="actions">
          <Button
            type="submit"
            kind={confirm === null ? 'primary' : 'danger'}
            isDisabled={isBusy || (confirm !== null && typed !== confirm)}
          >
            {submit}
          </Button>
          <Button onClick={onClose}>{TEXT.wizard.cancel}</Button>
        </div>
        <CurlLine line={() => BY_KEY.line(run)} />
      </form>
      {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
    </Dialog>
  )
}
