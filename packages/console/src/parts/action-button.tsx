/**
 * A button that asks the API for one thing, which can be taken back or changes nothing, and says when that failed; beside it, its line for a shell.
 */
import type { ComponentChildren } from 'preact'
import type { OperationName } from '../state/rights.ts'
import { TEXT } from '../words/strings.ts'
import type { Access } from './access.ts'
import { useAttempt } from './attempt.ts'
import { Button, FaultNotice } from './basics.tsx'
import { LineButton } from './curl-line.tsx'

interface Props<C> {
  readonly access: Access<C>
  readonly label: string
  readonly children?: ComponentChildren
  readonly needs?: OperationName
  readonly run: (api: C) => Promise<unknown>
  /** The request of `run` alone, where `run` does more to the page than ask. */
  readonly asks?: (api: C) => Promise<unknown>
  readonly onDone?: () => unknown
}

export function ActionButton<C>(props: Props<C>) {
  const { access, label, children = label, needs, run, asks = run, onDone } = props
  const { fault, isBusy, attempt } = useAttempt(access)
  const act = (): Promise<void> =>
    attempt((api) =>
      run(api).then(onDone, (error: unknown) => {
        // Its user changed their mind, in a dialog of the browser.
        if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
      }),
    )
  return (
    <>
      <Button
        onClick={() => void act()}
        isDisabled={isBusy}
        label={label}
        {...(needs === undefined ? {} : { needs })}
      >
        {children}
      </Button>
      <LineButton of={label} line={() => access.line(asks)} />
      {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
    </>
  )
}
