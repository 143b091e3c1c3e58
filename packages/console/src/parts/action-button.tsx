/**
 * A button that asks the data API for one thing, which can be taken back or changes nothing, and says when that failed.
 */
import type { ComponentChildren } from 'preact'
import type { Holdfast } from '../../../client/src/index.ts'
import { keySession, noticeKeyRefusal } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'
import { useAttempt } from './attempt.ts'
import { Button, FaultNotice } from './basics.tsx'

export function ActionButton({
  label,
  children = label,
  run,
  onDone,
}: {
  readonly label: string
  readonly children?: ComponentChildren
  readonly run: (api: Holdfast) => Promise<unknown>
  readonly onDone: () => void
}) {
  const { fault, isBusy, attempt } = useAttempt(noticeKeyRefusal)
  const act = async (): Promise<void> => {
    const api = keySession.peek()?.api
    if (api === undefined) return
    await attempt(() =>
      run(api).then(onDone, (error: unknown) => {
        // Its user changed their mind, in a dialog of the browser.
        if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
      }),
    )
  }
  return (
    <>
      <Button onClick={() => void act()} isDisabled={isBusy} label={label}>
        {children}
      </Button>
      {fault === null ? null : <FaultNotice fault={fault} title={TEXT.fault.refused} />}
    </>
  )
}
