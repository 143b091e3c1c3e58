/**
 * A button that asks the data API for one thing, which can be taken back or changes nothing, and says when that failed.
 */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Holdfast } from '../../../client/src/index.ts'
import { type Fault, faultOf } from '../state/resource.ts'
import { keySession, noticeKeyRefusal } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'
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
  const [fault, setFault] = useState<Fault | null>(null)
  const [isBusy, setBusy] = useState(false)
  const act = async (): Promise<void> => {
    const session = keySession.peek()
    if (session === null) return
    setBusy(true)
    setFault(null)
    try {
      await run(session.api)
      onDone()
    } catch (error) {
      // Its user changed their mind, in a dialog of the browser.
      if (!(error instanceof DOMException && error.name === 'AbortError')) {
        noticeKeyRefusal(error)
        setFault(faultOf(error))
      }
    }
    setBusy(false)
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
